import { Registry } from 'prom-client';
import { createAuthMetrics } from './metrics.ts';

it('starts each series of mail outcomes at zero, so that the first failure shows as an increase', async () => {
  const registry = new Registry();
  createAuthMetrics(registry);
  const { values = [] } = (await registry.getSingleMetric('taskmesh_auth_recovery_mails_total')?.get()) ?? {};
  expect(values.map(({ labels, value }) => `${labels.outcome} ${value}`)).toEqual(['sent 0', 'failed 0', 'given-up 0']);
});

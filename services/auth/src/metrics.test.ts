import { Registry } from 'prom-client';
import { createAuthMetrics } from './metrics.ts';

it('has a series for each outcome of a mail before the first one, so that its first failure is an increase', async () => {
  const registry = new Registry();
  createAuthMetrics(registry);
  const { values = [] } = (await registry.getSingleMetric('taskmesh_auth_recovery_mails_total')?.get()) ?? {};
  expect(values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
    ['sent', 0],
    ['failed', 0],
    ['given-up', 0],
  ]);
});

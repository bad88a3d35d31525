import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const healthOf = async ({ origin }: TestGateway) => {
  const response = await fetch(`${origin}/health`);
  return { status: response.status, body: await response.json(), retryAfter: response.headers.get('retry-after') };
};
const OK = { status: 200, body: { status: 'ok' }, retryAfter: null };
const degraded = (...unavailable: string[]) => ({
  status: 503,
  body: { status: 'degraded', unavailable },
  retryAfter: '1',
});

describe.each(['in-process', 'http'] as const)('/health, with services connected %s', (mode) => {
  it('names the services whose store does not answer, while /readyz stays ok', async () => {
    const gateway = await startTestGateway({ mode });
    expect(await healthOf(gateway)).toEqual(OK);
    const { reported } = gateway.operators;
    reported.tasks = { ...reported.tasks, store: { ...reported.tasks.store, isUp: false } as never };
    await eventually(async () => expect(await healthOf(gateway)).toEqual(degraded('tasks')));
    reported.auth = { ...reported.auth, store: { ...reported.auth.store, isUp: false } as never };
    await eventually(async () => expect(await healthOf(gateway)).toEqual(degraded('auth', 'tasks')));
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    for (const service of [reported.auth, reported.tasks]) Object.assign(service.store as object, { isUp: true });
    await eventually(async () => expect(await healthOf(gateway)).toEqual(OK));
    await gateway.stop();
  });
});

it('/health names a service that does not answer', async () => {
  const gateway = await startTestGateway({ mode: 'http' });
  await gateway.stopService('backup');
  await eventually(async () => expect(await healthOf(gateway)).toEqual(degraded('backup')));
  await gateway.stop();
});

it('/health asks the services at most once a second, however many want to know', async () => {
  const gateway = await startTestGateway();
  let asked = 0;
  const { status } = gateway.operators.tasks;
  gateway.operators.tasks.status = () => {
    asked++;
    return status();
  };
  const begun = performance.now();
  for (let times = 0; times < 5; times++) await Promise.all(Array.from({ length: 20 }, () => healthOf(gateway)));
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000);
  await gateway.stop();
});

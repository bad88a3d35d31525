import { eventually } from '@taskmesh/testing';
import { startTestGateway, useGateway, type TestGateway } from './fakes/gateway.ts';

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

describe('/health', () => {
  const gateway = useGateway({ mode: 'http' });

  it('names the services that do not respond or whose store does not, while /readyz stays ok', async () => {
    const becomes = (health: object) => eventually(async () => expect(await healthOf(gateway)).toEqual(health));
    await becomes(OK);
    const { auth, tasks } = gateway.operators.reported;
    Object.assign(tasks.store, { isUp: false });
    await becomes(degraded('tasks'));
    Object.assign(auth.store, { isUp: false });
    await becomes(degraded('auth', 'tasks'));
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    for (const { store } of [auth, tasks]) Object.assign(store, { isUp: true });
    await becomes(OK);
    await gateway.stopService('backup');
    await becomes(degraded('backup'));
  });

  it('checks the services at most once a second, however many requests arrive', async () => {
    let asked = 0;
    const { status } = gateway.operators.tasks;
    gateway.operators.tasks.status = () => (asked++, status());
    await eventually(async () => (await healthOf(gateway), expect(asked).toBeGreaterThan(0)));
    asked = 0;
    const begun = performance.now();
    for (let times = 0; times < 5; times++) await Promise.all(Array.from({ length: 20 }, () => healthOf(gateway)));
    expect(asked).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000);
  });
});

// Every test file is checked for handles that are left open.
it('a gateway that cannot listen stops everything that it has started', async () => {
  const first = await startTestGateway();
  const { port: PORT } = new URL(first.origin);
  await expect(startTestGateway({ beside: first, env: { PORT } })).rejects.toThrow('EADDRINUSE');
});

import { eventually } from '@taskmesh/testing';
import { startTestGateway, useGateway, USER, type TestGateway } from './fakes/gateway.ts';

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
    for (const { store } of [auth, tasks]) Object.assign(store, { isUp: false });
    await becomes(degraded('auth', 'tasks'));
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    for (const { store } of [auth, tasks]) Object.assign(store, { isUp: true });
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

const LOGIN = `mutation { login(input: { email: "ada", password: "right password" }) { accessToken } }`;

const problemsOf = async ({ origin }: TestGateway): Promise<string[]> => {
  const { data } = (await (await fetch(`${origin}/api/operations/status`)).json()) as { data: { problems: string[] } };
  return data.problems;
};

it("a gateway whose clock differs from the services' by half a minute serves logins, lists and logouts, and reports no problem", async () => {
  let seconds = -29;
  const gateway = await startTestGateway({ mode: 'http', clock: { now: () => Date.now() + seconds * 1_000 } });
  for (seconds of [-29, 29]) {
    expect((await gateway.graphql(LOGIN)).body).toMatchObject({ data: { login: { accessToken: expect.any(String) } } });
    const token = await gateway.auth.token(USER);
    expect((await gateway.graphql('{ me { id } tasks { totalCount } }', { token })).body.errors).toBeUndefined();
    expect((await gateway.graphql('mutation { logout }', { token })).body).toEqual({ data: { logout: true } });
    const isRefused = async () => expect((await gateway.graphql('{ me { id } }', { token })).body.errors).toBeDefined();
    await eventually(isRefused, { timeoutMs: 1_000 });
    expect(await problemsOf(gateway)).toEqual([]);
  }
});

it.each([
  [-45, /^The clock of (auth|tasks|backup) is 4[45] s ahead of this gateway's\.$/],
  [3_600, /^The clock of (auth|tasks|backup) is (3600|3599) s behind this gateway's\.$/],
])(
  "a gateway whose clock differs from the services' by %d s reports each of them in the status, and in the log once a minute",
  async (seconds, sentence) => {
    const clock = { now: () => Date.now() + seconds * 1_000 };
    const gateway = await startTestGateway({ mode: 'http', clock, waitUntilReady: false });
    await problemsOf(gateway);
    const problems = (await problemsOf(gateway)).filter((problem) => problem.includes('clock'));
    expect(problems).toEqual(Array(3).fill(expect.stringMatching(sentence)));
    const warnings = gateway.logged.filter(({ msg }) => String(msg).startsWith('the clock of a service'));
    expect(warnings.map(({ peer }) => peer).sort()).toEqual(['auth', 'backup', 'tasks']);
  },
);

import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const LOGIN = `mutation { login(input: { email: "ada", password: "right password" }) { accessToken } }`;
const USER = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';

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

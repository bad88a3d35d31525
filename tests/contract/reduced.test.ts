import { createClient, newEmail, PASSWORD } from './client.ts';
import { describeFullTasks } from './full-tasks.ts';
import { platformForTests } from './platform-for-tests.ts';
import { describeReducedTasks } from './reduced-tasks.ts';
import { expectError } from './shapes.ts';

const LIMITED = { status: 429, code: 'RATE_LIMITED', envelope: 'plain' } as const;

describe('a platform that serves the reduced variant, with the limits of production', () => {
  const platform = platformForTests('start', () => ({
    TASKS_CONTRACT: 'reduced',
    RATE_LIMIT_FACTOR: '1',
    GRAPHQL_INTROSPECTION: 'false',
    PASSWORD_MIN_LENGTH: '15',
  }));
  const client = createClient(() => platform().url);

  describeReducedTasks(platform, '/api');
  describeReducedTasks(platform, '/reduced/api');
  describeFullTasks(platform, '/full/api');

  it('has no statistics below /api', async () => {
    const { token } = await client.signUp();
    expect((await client.call('GET', '/api/tasks/stats', { token })).status).toBe(404);
    expect((await client.call('GET', '/full/api/tasks/stats', { token })).status).toBe(200);
  });

  it('wants passwords as long as its settings say', async () => {
    const signUp = (password: string) =>
      client.call('POST', '/api/auth/signup', { json: { email: newEmail(), password, name: 'Ada' } });
    expectError(await signUp('fourteen chars'), { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' });
    expect((await signUp('fifteen of them')).status).toBe(201);
  });

  it('is not introspected', async () => {
    const { body } = await client.graphql('{ __schema { queryType { name } } }');
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  // The limits of an address on the network come last: behind them nobody gets in any more.
  it('sends 60 recovery mails to one IP in five minutes, for whomever they are', async () => {
    const forgot = () => client.call('POST', '/api/auth/forgot-password', { json: { email: newEmail() } });
    const answers = await inTurn(61, forgot);
    expect(answers.slice(0, 60).map(({ status }) => status)).toEqual(Array(60).fill(200));
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });

  it('opens 60 accounts for one IP in five minutes', async () => {
    const signUp = () =>
      client.call('POST', '/api/auth/signup', { json: { email: newEmail(), password: PASSWORD, name: 'Ada' } });
    const answers = await inTurn(61, signUp);
    const statuses = answers.map(({ status }) => status);
    const opened = statuses.filter((status) => status === 201).length;
    expect(opened).toBeLessThan(60); // some were opened by the tests before
    expect(statuses).toEqual([...Array<number>(opened).fill(201), ...Array<number>(61 - opened).fill(429)]);
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });

  it('lets 100 logins of one IP fail in 15 minutes', async () => {
    const answers = await inTurn(101, () => client.logIn(newEmail(), 'wrong password'));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([...Array<number>(100).fill(401), 429]);
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });
});

async function inTurn<Result>(times: number, act: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let count = 0; count < times; count++) results.push(await act());
  return results;
}

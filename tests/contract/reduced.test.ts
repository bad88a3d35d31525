import type { ApiDescription } from '@taskmesh/testing/api-description';
import { clientOf, keysOf, newEmail, PASSWORD, type Task } from './client.ts';
import { platformForTests } from './platform-for-tests.ts';
import { expectError, REDUCED_KEYS } from './shapes.ts';

const LIMITED = { status: 429, code: 'RATE_LIMITED', envelope: 'plain' } as const;

describe('a platform that serves the reduced variant, with a tenth of production’s limits', () => {
  const platform = platformForTests('start', () => ({
    TASKS_CONTRACT: 'reduced',
    RATE_LIMIT_FACTOR: '0.1',
    TRUSTED_PROXIES: '127.0.0.1',
    GRAPHQL_INTROSPECTION: 'false',
    PASSWORD_MIN_LENGTH: '15',
  }));
  const client = clientOf(platform);

  it('serves the reduced variant below /api, and the full contract below /full/api, over the same tasks', async () => {
    const { token } = await client.signUp();
    const json = { title: 'Bare', priority: 'high', completed: true };
    const { body: task } = await client.call<Task>('POST', '/api/tasks', { token, json });
    expect(keysOf(task)).toEqual(REDUCED_KEYS);
    const list = { data: [task], total: 1, page: 1 };
    expect((await client.call('GET', '/api/tasks?status=pending&sort=updated_at', { token })).body).toEqual(list);
    expect((await client.call('GET', '/reduced/api/tasks', { token })).body).toEqual(list);
    const full = await client.call('GET', `/full/api/tasks/${task.id}`, { token });
    expect(full.body).toMatchObject({ success: true, data: { ...task, priority: 'medium' } });
    const path = `/api/tasks/${task.id}`;
    expect((await client.call<Task>('PATCH', path, { token, json: { completed: true } })).body.completed).toBe(true);
    expect((await client.call('DELETE', path, { token })).body).toEqual({ message: expect.any(String) });
    const gone = await client.call('GET', path, { token });
    expectError(gone, { status: 404, code: 'NOT_FOUND', envelope: 'plain' });
    expect((await client.call('GET', '/api/tasks/stats', { token })).status).toBe(404);
    expect((await client.call('GET', '/full/api/tasks/stats', { token })).status).toBe(200);
  });

  it('describes the reduced variant in the API description', async () => {
    const { body } = await client.call<ApiDescription>('GET', '/api/openapi.json');
    const schemaOf = (path: string) => {
      const response = body.paths[path]?.get?.responses['200'];
      return response && 'content' in response && response.content?.['application/json']?.schema.$ref;
    };
    expect(schemaOf('/api/tasks')).toBe('#/components/schemas/ReducedTaskList');
    expect(schemaOf('/full/api/tasks')).toBe('#/components/schemas/TaskList');
  });

  it('requires the password length of its settings', async () => {
    const signUp = (password: string) =>
      client.call('POST', '/api/auth/signup', { json: { email: newEmail(), password, name: 'Ada' } });
    expectError(await signUp('fourteen chars'), { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' });
    expect((await signUp('fifteen of them')).status).toBe(201);
  });

  it('does not allow introspection', async () => {
    const { body } = await client.graphql('{ __schema { queryType { name } } }');
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  // Tests of the limits per IP address come last, because later requests would be refused.
  it('sends at most 6 recovery mails per IP in five minutes, to any addresses', async () => {
    const forgot = () => client.call('POST', '/api/auth/forgot-password', { json: { email: newEmail() } });
    const answers = await inTurn(7, forgot);
    expect(answers.slice(0, 6).map(({ status }) => status)).toEqual(Array(6).fill(200));
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });

  it('creates at most 6 accounts per IP in five minutes', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const signUp = () =>
      client.call('POST', '/api/auth/signup', {
        headers,
        json: { email: newEmail(), password: PASSWORD, name: 'Ada' },
      });
    const answers = await inTurn(7, signUp);
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(6).fill(201), 429]);
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });

  it('allows at most 10 failed logins per IP in 15 minutes', async () => {
    const answers = await inTurn(11, () => client.logIn(newEmail(), 'wrong password'));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    const last = answers.at(-1);
    if (last) expectError(last, LIMITED);
  });
});

async function inTurn<Result>(times: number, act: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let count = 0; count < times; count++) results.push(await act());
  return results;
}

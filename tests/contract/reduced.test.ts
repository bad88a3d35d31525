import type { ApiDescription } from '@taskmesh/testing/api-description';
import { newEmail, PASSWORD } from '../http.ts';
import { clientOf, keysOf, type ClientResponse, type Task } from './client.ts';
import { platformForTests } from './platform-for-tests.ts';
import { expectError, REDUCED_KEYS } from './shapes.ts';

describe('a platform that serves the reduced variant, with a tenth of production’s limits', () => {
  const platform = platformForTests('start', () => ({
    TASKS_CONTRACT: 'reduced',
    RATE_LIMIT_FACTOR: '0.1',
    TRUSTED_PROXIES: '127.0.0.1',
    GRAPHQL_INTROSPECTION: 'false',
    PASSWORD_MIN_LENGTH: '15',
  }));
  const client = clientOf(platform);
  const forgot = () => client.call('POST', '/api/auth/forgot-password', { json: { email: newEmail() } });
  const signUp = (password: string, headers = {}) =>
    client.call('POST', '/api/auth/signup', { headers, json: { email: newEmail(), password, name: 'Ada' } });

  it('serves the reduced variant below /api, and the full contract below /full/api, over the same tasks', async () => {
    const { token } = await client.signUp();
    const json = { title: 'Bare' };
    const { body: task } = await client.call<Task>('POST', '/api/tasks', { token, json });
    expect(keysOf(task)).toEqual(REDUCED_KEYS);
    const list = { data: [task], total: 1, page: 1 };
    expect((await client.call('GET', '/api/tasks?status=pending&sort=updated_at', { token })).body).toEqual(list);
    expect((await client.call('GET', '/reduced/api/tasks', { token })).body).toEqual(list);
    const full = await client.call('GET', `/full/api/tasks/${task.id}`, { token });
    expect(full.body).toMatchObject({ success: true, data: { ...task, priority: 'medium' } });
    expect((await client.call('GET', '/api/tasks/stats', { token })).status).toBe(404);
    expect((await client.call('GET', '/full/api/tasks/stats', { token })).status).toBe(200);
    const { body } = await client.call<ApiDescription>('GET', '/api/openapi.json');
    const schemaOf = (path: string) => {
      const response = body.paths[path]?.get?.responses['200'];
      return response && 'content' in response && response.content?.['application/json']?.schema.$ref;
    };
    expect(schemaOf('/api/tasks')).toBe('#/components/schemas/ReducedTaskList');
    expect(schemaOf('/full/api/tasks')).toBe('#/components/schemas/TaskList');
  });

  it('requires the password length of its settings, and does not allow introspection', async () => {
    expectError(await signUp('fourteen chars'), { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' });
    expect((await signUp('fifteen of them')).status).toBe(201);
    const { body } = await client.graphql('{ __schema { queryType { name } } }');
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  // Tests of the limits per IP address come last, because later requests would be refused.
  it.each<[string, number, number, () => Promise<ClientResponse>]>([
    ['recovery mails in five minutes, to any addresses', 6, 200, () => forgot()],
    ['new accounts in five minutes', 6, 201, () => signUp(PASSWORD, { 'x-forwarded-for': '203.0.113.7' })],
    ['failed logins in 15 minutes', 10, 401, () => client.logIn(newEmail(), 'wrong password')],
  ])('allows an IP at most these %s: %d', async (_what, most, status, act) => {
    for (let count = 0; count < most; count++) expect((await act()).status).toBe(status);
    expectError(await act(), { status: 429, code: 'RATE_LIMITED', envelope: 'plain' });
  });
});

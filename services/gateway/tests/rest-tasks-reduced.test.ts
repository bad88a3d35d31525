import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, type Client } from './rest-fakes/client.ts';

let rest: RestApp;
let client: Client;
let token: string;
let userId: string;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
});
beforeEach(async () => {
  ({ token, userId } = await client.signUp());
});
afterAll(() => rest.stop());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UTC_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the reduced variant', () => {
  const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    client.call(method, `/reduced/api${path}`, { token, headers, ...(json !== undefined && { json }) });
  const created = async (json: object = {}) =>
    (await send('POST', '/tasks', { title: 'Water the plants', ...json })).body;

  it('creates a bare task that is not completed, whatever else is sent', async () => {
    const { status, body, headers } = await send('POST', '/tasks', {
      title: 'Water the plants',
      completed: true,
      priority: 'high',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      user_id: userId,
      title: 'Water the plants',
      description: null,
      completed: false,
      created_at: expect.stringMatching(UTC_MS),
      updated_at: body.created_at,
    });
    expect(headers.get('etag')).toBe('"1"');
    expect((await client.call('GET', `/api/tasks/${body.id}`, { token })).body.data.priority).toBe('medium');
  });

  it('reads, changes and deletes it', async () => {
    const task = await created({ description: 'All but the cactus.' });
    expect((await send('GET', `/tasks/${task.id}`)).body).toEqual(task);
    const changed = await send('PATCH', `/tasks/${task.id}`, { completed: true, priority: 'high', description: null });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...task,
      completed: true,
      description: null,
      updated_at: expect.stringMatching(UTC_MS),
    });
    expect((await client.call('GET', `/api/tasks/${task.id}`, { token })).body.data.priority).toBe('medium');
    const gone = await send('DELETE', `/tasks/${task.id}`);
    expect(gone.status).toBe(200);
    expect(gone.body).toEqual({ message: expect.any(String) });
    expect((await send('GET', `/tasks/${task.id}`)).status).toBe(404);
  });

  it('shows tasks of the full contract, too', async () => {
    const { body } = await client.call('POST', '/api/tasks', {
      token,
      json: { title: 'From the other side', category: 'x' },
    });
    expect((await send('GET', `/tasks/${body.data.id}`)).body).not.toHaveProperty('category');
  });

  it('knows no statistics', async () => {
    const { status, body } = await send('GET', '/tasks/stats');
    expect(status).toBe(404);
    expect(body).toEqual({ message: expect.any(String), error: { code: 'NOT_FOUND' } });
  });

  it('refuses a task without title in its own envelope', async () => {
    const { status, body } = await send('POST', '/tasks', { description: 'Nameless' });
    expect(status).toBe(400);
    expect(body).toEqual({
      message: expect.any(String),
      error: { code: 'BAD_USER_INPUT', details: [{ path: 'title', message: expect.any(String) }] },
    });
  });

  it('honours If-Match and Idempotency-Key', async () => {
    const { id } = await created();
    expect((await send('PATCH', `/tasks/${id}`, { title: 'Changed' }, { 'if-match': '"2"' })).status).toBe(412);
    const once = { 'idempotency-key': 'reduced' };
    const first = await send('POST', '/tasks', { title: 'Only once' }, once);
    expect((await send('POST', '/tasks', { title: 'Only once' }, once)).body).toEqual(first.body);
    expect((await send('POST', '/tasks', { title: 'Another' }, once)).status).toBe(422);
  });

  describe('the list', () => {
    beforeEach(async () => {
      for (const title of ['one', 'two', 'three']) await created({ title: `Task ${title}` });
      const { body } = await send('GET', '/tasks?order=asc&limit=1');
      await send('PATCH', `/tasks/${body.data[0].id}`, { completed: true });
    });

    it.each([
      ['', ['three', 'two', 'one'], 3, 1],
      ['?status=all', ['three', 'two', 'one'], 3, 1],
      ['?status=completed', ['one'], 1, 1],
      ['?status=pending', ['three', 'two'], 2, 1],
      ['?sort=updated_at', ['one', 'three', 'two'], 3, 1],
      ['?sort=created_at&order=asc', ['one', 'two', 'three'], 3, 1],
      ['?limit=2', ['three', 'two'], 3, 1],
      ['?limit=2&page=2', ['one'], 3, 2],
      ['?page=9', [], 3, 9],
      ['?completed=nonsense&priority=urgent', ['three', 'two', 'one'], 3, 1],
    ])('has what was asked for with "%s"', async (query, titles, total, page) => {
      const { status, body } = await send('GET', `/tasks${query}`);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(['data', 'total', 'page']);
      expect(body.data.map((row: { title: string }) => row.title)).toEqual(titles.map((title) => `Task ${title}`));
      expect([body.total, body.page]).toEqual([total, page]);
    });

    it('says where it goes on when there is more', async () => {
      const { headers } = await send('GET', '/tasks?status=pending&limit=1&limit_=x');
      expect(headers.get('link')).toBe('<?status=pending&limit=1&page=2>; rel="next"');
      expect((await send('GET', '/tasks?limit=2&page=2')).headers.has('link')).toBe(false);
      expect((await send('GET', '/tasks')).headers.has('link')).toBe(false);
    });

    it('has as many tasks as the full contract without a limit', async () => {
      await send('GET', '/tasks?page=3');
      expect(rest.tasks.listCalls.at(-1)).toMatchObject({ first: 1_000, offset: 2_000 });
    });

    it('takes every page that a list can have', async () => {
      expect((await send('GET', '/tasks?page=2147484&limit=1000')).body).toMatchObject({ data: [], page: 2_147_484 });
      expect((await send('GET', '/tasks?page=2147485&limit=1')).status).toBe(400);
    });
  });
});

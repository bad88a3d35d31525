import { randomUUID } from 'node:crypto';
import { type Account, type ClientResponse, type Body, clientOf, keysOf, type Platform, type Task } from './client.ts';
import { expectError, REDUCED_KEYS, TIME, UUID } from './shapes.ts';

const NOT_FOUND = { status: 404, code: 'NOT_FOUND', envelope: 'plain' } as const;
const INVALID = { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' } as const;

/** The reduced variant below a prefix: bare objects with fewer fields, over the same tasks. */
export function describeReducedTasks(platform: () => Platform, prefix: string) {
  const client = clientOf(platform);
  let owner: Account;
  let stranger: Account;

  beforeAll(async () => {
    [owner, stranger] = [await client.signUp(), await client.signUp()];
  });

  const call = (method: string, path: string, json?: object, { token } = owner): Promise<ClientResponse<Task>> =>
    client.call<Task>(method, `${prefix}/tasks${path}`, { token, ...(json && { json }) });

  describe(`reduced tasks below ${prefix}`, () => {
    it('are created pending, from a title alone; other fields are ignored', async () => {
      const kept = { title: 'abc', description: 'text' };
      const sent = { ...kept, completed: true, priority: 'urgent', dueDate: 'nonsense', category: 5 };
      const { status, body, headers } = await call('POST', '', sent);
      expect(status).toBe(201);
      const made = { id: UUID, user_id: owner.id, completed: false, created_at: TIME, updated_at: TIME };
      expect(body).toEqual({ ...kept, ...made });
      expect(headers.get('etag')).toBe('"1"');
      expect((await call('GET', `/${body.id}`)).body).toEqual(body);
      const unchanged = { token: owner.token, headers: { 'if-none-match': '"1"' } };
      expect((await client.call('GET', `${prefix}/tasks/${body.id}`, unchanged)).status).toBe(304);
      const full = await client.call('GET', `/full/api/tasks/${body.id}`, { token: owner.token });
      expect(full.body.data).toMatchObject({ ...body, priority: 'medium', due_date: null, category: null });
    });

    it('change only in the listed fields', async () => {
      const { body: task } = await call('POST', '', { title: 'abc' });
      expect(task.description).toBeNull();
      const fields = { title: 'Another', description: 'text', completed: true };
      const changed = await call('PATCH', `/${task.id}`, { ...fields, priority: 'urgent', category: 5 });
      expect([changed.status, changed.body]).toEqual([200, { ...task, ...fields, updated_at: TIME }]);
      const touched = await call('PATCH', `/${task.id}`, {});
      expect(touched.status).toBe(200);
      expect(touched.body.updated_at > changed.body.updated_at).toBe(true);
      expect((await call('PATCH', `/${task.id}`, { description: null })).body.description).toBeNull();
    });

    it('are deleted with a message, and not found if they belong to others, or have no such id', async () => {
      const { body: task } = await call('POST', '', { title: 'abc' });
      for (const id of [task.id, randomUUID(), 'nonsense', 'stats'])
        for (const [method, json] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
          expectError(await call(method, `/${id}`, json, stranger), NOT_FOUND);
      const deleted = await call('DELETE', `/${task.id}`);
      expect([deleted.status, deleted.body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      expectError(await call('GET', `/${task.id}`), NOT_FOUND);
    });

    it('change only in the version of If-Match, and are created once per Idempotency-Key', async () => {
      const send = (method: string, path: string, title: string, headers: Record<string, string>) =>
        client.call<Task>(method, `${prefix}/tasks${path}`, { token: owner.token, json: { title }, headers });
      const once = { 'idempotency-key': randomUUID() };
      const first = await send('POST', '', 'Only once', once);
      expect((await send('POST', '', 'Only once', once)).body).toEqual(first.body);
      expect((await send('POST', '', 'Another', once)).status).toBe(422);
      expect((await send('PATCH', `/${first.body.id}`, 'Changed', { 'if-match': '"2"' })).status).toBe(412);
    });
  });

  describe(`the reduced list below ${prefix}`, () => {
    let lister: Account;

    beforeAll(async () => {
      lister = await client.signUp();
      const ids: string[] = [];
      for (const title of ['one', 'two', 'three', 'four', 'five'])
        ids.push((await call('POST', '', { title }, lister)).body.id);
      for (const index of [1, 0]) await call('PATCH', `/${ids[index]}`, { completed: true }, lister);
    });

    it.each([
      ['', 'five four three two one', 5, 1],
      ['?order=asc', 'one two three four five', 5, 1],
      ['?sort=updated_at', 'one two five four three', 5, 1],
      ['?sort=updated_at&order=asc', 'three four five two one', 5, 1],
      ['?status=all', 'five four three two one', 5, 1],
      ['?status=completed', 'two one', 2, 1],
      ['?status=pending&sort=created_at&order=asc', 'three four five', 3, 1],
      ['?limit=2&page=2', 'three two', 5, 2],
      ['?limit=2&page=4', '', 5, 4],
      ['?sortBy=nonsense&completed=nonsense', 'five four three two one', 5, 1],
    ])('with %s is: %s', async (query, titles, total, page) => {
      const path = `${prefix}/tasks${query}`;
      const { status, body } = await client.call<Body<Task[]>>('GET', path, { token: lister.token });
      expect([status, body]).toEqual([200, { data: expect.any(Array), total, page }]);
      expect(body.data.map(({ title }) => title).join(' ')).toBe(titles);
      for (const task of body.data) expect(keysOf(task)).toEqual(REDUCED_KEYS);
    });

    it('has a link to the next page, if there is one, and can reach every page', async () => {
      const linkOf = async (query: string) =>
        (await client.call('GET', `${prefix}/tasks${query}`, { token: lister.token })).headers.get('link');
      expect(await linkOf('?status=pending&limit=1&limit_=x')).toBe('<?status=pending&limit=1&page=2>; rel="next"');
      expect(await linkOf('?limit=3&page=2')).toBeNull();
      expect(await linkOf('')).toBeNull();
      const path = `${prefix}/tasks?page=2147484&limit=1000`;
      const { body } = await client.call<Body<Task[]>>('GET', path, { token: lister.token });
      expect([body.data, body.page]).toEqual([[], 2_147_484]);
      expectError(await client.call('GET', `${prefix}/tasks?page=2147485&limit=1`, { token: lister.token }), INVALID);
    });
  });
}

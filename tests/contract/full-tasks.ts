import { randomUUID } from 'node:crypto';
import { createClient, keysOf, type Account, type Body, type Task } from './client.ts';
import type { Platform } from './platform.ts';
import { expectError, TASK_KEYS, TIME, UUID } from './shapes.ts';

const SENTENCE = expect.stringMatching(/\S/);
const NOT_FOUND = { status: 404, code: 'NOT_FOUND', envelope: 'tasks' } as const;
const INVALID = { status: 400, code: 'BAD_USER_INPUT', envelope: 'tasks' } as const;

/** The full task contract below a prefix: every row of its table, and what the decisions add. */
export function describeFullTasks(platform: () => Platform, prefix: string) {
  const client = createClient(() => platform().url);
  let owner: Account;
  let stranger: Account;

  beforeAll(async () => {
    [owner, stranger] = [await client.signUp(), await client.signUp()];
  });

  const create = async (json: object, { token } = owner) => {
    const answer = await client.call('POST', `${prefix}/tasks`, { token, json: { title: 'A task', ...json } });
    expect(answer.status).toBe(201);
    return answer.body.data;
  };
  const list = async (query: string, { token } = owner) => {
    const answer = await client.call<Body<Task[]>>('GET', `${prefix}/tasks${query}`, { token });
    expect(answer.status).toBe(200);
    expect(keysOf(answer.body)).toEqual(['count', 'data', 'message', 'success']);
    expect(answer.body).toMatchObject({ success: true, message: SENTENCE, count: answer.body.data.length });
    return answer.body.data;
  };

  describe(`tasks below ${prefix}`, () => {
    it('are created with the documented answer and defaults', async () => {
      const { status, body, headers } = await client.call('POST', `${prefix}/tasks`, {
        token: owner.token,
        json: { title: 'abc' },
      });
      expect(status).toBe(201);
      expect(body).toEqual({
        success: true,
        message: SENTENCE,
        data: {
          id: UUID,
          user_id: owner.id,
          title: 'abc',
          description: null,
          completed: false,
          due_date: null,
          category: null,
          priority: 'medium',
          created_at: TIME,
          updated_at: TIME,
        },
      });
      expect(headers.get('etag')).toBe('"1"');
    });

    it('keep every field as it was sent', async () => {
      const sent = {
        title: ' é e\u0301 😀 <b>',
        description: 'd'.repeat(2_000),
        completed: true,
        dueDate: '2026-12-01T09:00:00.5+01:00',
        category: '',
        priority: 'high',
      };
      const task = await create(sent);
      const { dueDate: _, ...same } = sent;
      expect(task).toMatchObject({ ...same, due_date: '2026-12-01T08:00:00.500Z', user_id: owner.id });
      const read = await client.call('GET', `${prefix}/tasks/${task.id}`, { token: owner.token });
      expect(read.status).toBe(200);
      expect(read.body).toEqual({ success: true, message: SENTENCE, data: task });
      expect(
        (await client.call('GET', `${prefix}/tasks/${task.id.toUpperCase()}`, { token: owner.token })).body.data,
      ).toEqual(task);
    });

    it('ignore fields that nobody knows, and null where a task may be without', async () => {
      const task = await create({
        id: randomUUID(),
        user_id: stranger.id,
        due_date: 'x',
        created_at: 'x',
        description: null,
        dueDate: null,
        category: null,
      });
      expect(task).toMatchObject({ user_id: owner.id, description: null, due_date: null, category: null });
      expect(keysOf(task)).toEqual(TASK_KEYS);
    });

    it('change in the fields that are sent, and in updated_at', async () => {
      const task = await create({
        description: 'text',
        dueDate: '2026-01-01T00:00:00Z',
        category: 'home',
        priority: 'low',
      });
      const patch = async (json: object) => {
        const { status, body } = await client.call('PATCH', `${prefix}/tasks/${task.id}`, { token: owner.token, json });
        expect(status).toBe(200);
        expect(keysOf(body)).toEqual(['data', 'message', 'success']);
        expect(body.success).toBe(true);
        return body.data;
      };
      const completed = await patch({ completed: true });
      expect(completed).toEqual({ ...task, completed: true, updated_at: TIME });
      const reopened = await patch({ completed: false, title: 'Another title', unknown: 1 });
      expect(reopened).toEqual({ ...task, title: 'Another title', updated_at: TIME });
      const cleared = await patch({ description: null, dueDate: null, category: null });
      expect(cleared).toMatchObject({ description: null, due_date: null, category: null, priority: 'low' });
      const touched = await patch({});
      expect(touched).toEqual({ ...cleared, updated_at: TIME });
      const times = [task, completed, reopened, cleared, touched].map(({ updated_at }) => Date.parse(updated_at));
      expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
      expect(touched.created_at).toBe(task.created_at);
    });

    it('go away once', async () => {
      const { id } = await create({});
      const path = `${prefix}/tasks/${id}`;
      const deleted = await client.call('DELETE', path, { token: owner.token, raw: '{not looked at' });
      expect(deleted.status).toBe(200);
      expect(deleted.body).toEqual({ success: true, message: SENTENCE });
      expectError(await client.call('DELETE', path, { token: owner.token }), NOT_FOUND);
      expectError(await client.call('GET', path, { token: owner.token }), NOT_FOUND);
      expectError(await client.call('PATCH', path, { token: owner.token, json: {} }), NOT_FOUND);
    });

    it('of others look exactly like tasks that are not there', async () => {
      const { id } = await create({});
      const calls = [['GET'], ['PATCH', { title: 'Stolen' }], ['DELETE']] as const;
      for (const [method, json] of calls) {
        const answers = [];
        for (const path of [id, randomUUID(), 'no-uuid'])
          answers.push(
            await client.call(method, `${prefix}/tasks/${path}`, { token: stranger.token, ...(json && { json }) }),
          );
        for (const answer of answers) expectError(answer, NOT_FOUND);
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      }
      expect((await client.call('GET', `${prefix}/tasks/${id}`, { token: owner.token })).body.data.title).toBe(
        'A task',
      );
      expect((await list('', stranger)).map((task) => task.id)).not.toContain(id);
    });

    it('need a token, on every row, before anything else is looked at', async () => {
      const rows = [
        ['POST', ''],
        ['GET', '?order=nonsense'],
        ['GET', '/stats'],
        ['GET', '/x'],
        ['PATCH', '/x'],
        ['DELETE', '/x'],
      ] as const;
      for (const [method, path] of rows) {
        const raw =
          method === 'POST' || method === 'PATCH' ? { raw: '{', headers: { 'content-type': 'text/plain' } } : {};
        expectError(await client.call(method, `${prefix}/tasks${path}`, raw), {
          status: 401,
          code: 'UNAUTHENTICATED',
          envelope: 'tasks',
        });
      }
    });

    it("are refused with the client's own names of what is wrong", async () => {
      const json = {
        title: 'ab',
        description: 5,
        dueDate: 'tomorrow',
        category: [],
        priority: 'urgent',
        completed: 'yes',
      };
      const answer = await client.call('POST', `${prefix}/tasks`, { token: owner.token, json });
      expectError(answer, INVALID);
      expect(answer.body.error.details?.map(({ path }) => path).toSorted()).toEqual(keysOf(json));
      const changed = await client.call('PATCH', `${prefix}/tasks/${randomUUID()}`, {
        token: owner.token,
        json: { title: null },
      });
      expectError(changed, INVALID);
    });

    it('keep a version as ETag, and If-Match refuses another one', async () => {
      const { id } = await create({});
      const path = `${prefix}/tasks/${id}`;
      const patch = (ifMatch: string) =>
        client.call('PATCH', path, { token: owner.token, json: { completed: true }, headers: { 'if-match': ifMatch } });
      const failed = { status: 412, code: 'PRECONDITION_FAILED', envelope: 'tasks' } as const;
      expect((await client.call('GET', path, { token: owner.token })).headers.get('etag')).toBe('"1"');
      const changed = await patch('"1"');
      expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
      for (const stale of ['"1"', 'W/"2"', '"nonsense"', '"99999999999"']) expectError(await patch(stale), failed);
      for (const malformed of ['2', 'nonsense']) expectError(await patch(malformed), INVALID);
      const read = (tag: string) => client.call('GET', path, { token: owner.token, headers: { 'if-none-match': tag } });
      expect((await read('"1"')).status).toBe(200);
      expect([(await read('"2"')).status, (await read('W/"2"')).text]).toEqual([304, '']);
      expect((await patch('"7", "2"')).status).toBe(200);
      expect((await patch('*')).headers.get('etag')).toBe('"4"');
      const remove = (ifMatch: string) =>
        client.call('DELETE', path, { token: owner.token, headers: { 'if-match': ifMatch } });
      expectError(await remove('"3"'), failed);
      expect((await remove('"4"')).status).toBe(200);
      expectError(await remove('"4"'), NOT_FOUND);
    });

    it('are created once for each idempotency key', async () => {
      const post = (key: string, title: string, { token } = owner) =>
        client.call('POST', `${prefix}/tasks`, { token, json: { title }, headers: { 'idempotency-key': key } });
      const key = randomUUID();
      const first = await post(key, 'Once');
      expect(first.status).toBe(201);
      const again = await post(key, 'Once');
      expect([again.status, again.text]).toEqual([201, first.text]);
      const other = await post(key, 'Something else');
      expect(other.status).toBe(422);
      expect(other.body.success).toBe(false);
      expect((await post(key, 'Once', stranger)).body.data.id).not.toBe(first.body.data.id);
      const racing = randomUUID();
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(racing, 'Racing')));
      expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id)).size).toBe(1);
      for (const { status } of answers) expect([201, 409]).toContain(status);
      expect((await list('')).filter(({ title }) => title === 'Racing')).toHaveLength(1);
      for (const bad of ['x'.repeat(256), 'caf\u00e9']) expectError(await post(bad, 'Never'), INVALID);
      expect((await list('')).filter(({ title }) => title === 'Never')).toEqual([]);
    });
  });

  describe(`the list below ${prefix}`, () => {
    let lister: Account;
    const seeds = [
      { title: 'one', priority: 'high', dueDate: '2026-03-01T00:00:00Z', category: 'work' },
      { title: 'two', priority: 'low', category: 'work', completed: true },
      { title: 'three', priority: 'medium', dueDate: '2026-01-01T00:00:00Z', category: 'Work' },
      { title: 'four', priority: 'low', dueDate: '2026-02-01T00:00:00Z', category: '' },
      { title: 'five', priority: 'high', completed: true },
    ];

    beforeAll(async () => {
      lister = await client.signUp();
      for (const seed of seeds) await create(seed, lister);
    });

    it.each([
      ['', 'five four three two one'],
      ['?order=asc', 'one two three four five'],
      ['?sortBy=created_at', 'five four three two one'],
      ['?sortBy=priority', 'five one three four two'],
      ['?sortBy=priority&order=asc', 'two four three one five'],
      ['?sortBy=due_date', 'one four three five two'],
      ['?sortBy=due_date&order=asc', 'three four one two five'],
      ['?completed=true', 'five two'],
      ['?completed=false', 'four three one'],
      ['?category=work', 'two one'],
      ['?category=', 'four'],
      ['?category=nothing', ''],
      ['?priority=low', 'four two'],
      ['?priority=low&completed=false&category=&sortBy=due_date&order=asc', 'four'],
      ['?limit=2', 'five four'],
      ['?limit=2&offset=3', 'two one'],
      ['?offset=10', ''],
      ['?status=nonsense&sort=nonsense&page=0&completed[]=x', 'five four three two one'],
    ])('with %s is: %s', async (query, titles) => {
      expect((await list(query, lister)).map(({ title }) => title).join(' ')).toBe(titles);
    });

    it('has whole tasks of the caller only', async () => {
      for (const task of await list('', lister)) {
        expect(keysOf(task)).toEqual(TASK_KEYS);
        expect(task.user_id).toBe(lister.id);
      }
    });

    it.each([
      'completed=TRUE',
      'completed=1',
      'completed=',
      'completed=true&completed=true',
      'priority=LOW',
      'priority=',
      'sortBy=title',
      'sortBy=createdAt',
      'order=ASC',
      'limit=0',
      'limit=1001',
      'limit=x',
      'offset=-1',
      'category=a&category=b',
      'category=%ff',
      'category=%00',
    ])('is a 400 with %s', async (query) => {
      expectError(await client.call('GET', `${prefix}/tasks?${query}`, { token: lister.token }), INVALID);
    });

    it('answers HEAD as GET, without a body', async () => {
      const head = await client.call('HEAD', `${prefix}/tasks`, { token: lister.token });
      expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
        200,
        '',
        expect.stringMatching(/^application\/json/),
      ]);
      expect((await client.call('HEAD', `${prefix}/tasks`)).status).toBe(401);
    });
  });

  describe(`the statistics below ${prefix}`, () => {
    it("count the caller's tasks, and are no task of the name stats", async () => {
      const { token } = await client.signUp();
      const stats = async () => {
        const { status, body } = await client.call('GET', `${prefix}/tasks/stats`, { token });
        expect(status).toBe(200);
        expect(body).toMatchObject({ success: true, message: SENTENCE });
        expect(keysOf(body)).toEqual(['data', 'message', 'success']);
        return body.data;
      };
      expect(await stats()).toEqual({ total: 0, completed: 0, pending: 0, completionPercentage: 0 });
      for (const completed of [true, false, false])
        await client.call('POST', `${prefix}/tasks`, { token, json: { title: 'abc', completed } });
      expect(await stats()).toEqual({ total: 3, completed: 1, pending: 2, completionPercentage: 33.33 });
    });
  });
}

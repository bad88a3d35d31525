import { randomUUID } from 'node:crypto';
import { type Account, type Body, clientOf, keysOf, type Platform, type Task } from './client.ts';
import { casesOf, expectError, TASK_KEYS, TIME, UUID } from './shapes.ts';

const SENTENCE = expect.stringMatching(/\S/);
const NOT_FOUND = { status: 404, code: 'NOT_FOUND', envelope: 'tasks' } as const;
const INVALID = { status: 400, code: 'BAD_USER_INPUT', envelope: 'tasks' } as const;

/** The full task contract below a prefix: every row of its table in the interface document, and later decisions. */
export function describeFullTasks(platform: () => Platform, prefix: string) {
  const client = clientOf(platform);
  let owner: Account;
  let stranger: Account;

  beforeAll(async () => {
    [owner, stranger] = [await client.signUp(), await client.signUp()];
  });

  const call = <Content = Body>(method: string, path: string, json?: object, { token } = owner) =>
    client.call<Content>(method, `${prefix}/tasks${path}`, { token, ...(json && { json }) });
  const create = async (json: object, account = owner) => {
    const response = await call('POST', '', { title: 'A task', ...json }, account);
    expect(response.status).toBe(201);
    return response.body.data;
  };
  const list = async (query: string, account = owner) => {
    const response = await call<Body<Task[]>>('GET', query, undefined, account);
    expect(response.status).toBe(200);
    expect(keysOf(response.body)).toEqual(['count', 'data', 'message', 'success']);
    expect(response.body).toMatchObject({ success: true, message: SENTENCE, count: response.body.data.length });
    return response.body.data;
  };

  describe(`tasks below ${prefix}`, () => {
    it('are created with the documented response and defaults', async () => {
      const { status, body, headers } = await call('POST', '', { title: 'abc' });
      expect(status).toBe(201);
      const absent = { description: null, category: null, due_date: null };
      const data = { ...absent, id: UUID, user_id: owner.id, title: 'abc', completed: false, priority: 'medium' };
      const times = { created_at: TIME, updated_at: TIME };
      expect(body).toEqual({ success: true, message: SENTENCE, data: { ...data, ...times } });
      expect(headers.get('etag')).toBe('"1"');
    });

    it('keep every field unchanged', async () => {
      const texts = { title: ' é e\u0301 😀 <b>', description: 'd'.repeat(2_000), category: '' };
      const same = { ...texts, completed: true, priority: 'high' };
      const task = await create({ ...same, dueDate: '2026-12-01T09:00:00.5+01:00' });
      expect(task).toMatchObject({ ...same, due_date: '2026-12-01T08:00:00.500Z', user_id: owner.id });
      const read = await call('GET', `/${task.id}`);
      expect([read.status, read.body]).toEqual([200, { success: true, message: SENTENCE, data: task }]);
      expect((await call('GET', `/${task.id.toUpperCase()}`)).body.data).toEqual(task);
    });

    it('ignore unknown fields, and null in optional fields', async () => {
      const unknown = { id: randomUUID(), user_id: stranger.id, due_date: 'x', created_at: 'x' };
      const task = await create({ ...unknown, description: null, dueDate: null, category: null });
      expect(task).toMatchObject({ user_id: owner.id, description: null, due_date: null, category: null });
      expect(keysOf(task)).toEqual(TASK_KEYS);
    });

    it('change only in the fields that are sent, and in updated_at', async () => {
      const texts = { description: 'text', category: 'home', priority: 'low' };
      const task = await create({ ...texts, dueDate: '2026-01-01T00:00:00Z' });
      const patch = async (json: object) => {
        const { status, body } = await call('PATCH', `/${task.id}`, json);
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

    it('are deleted once', async () => {
      const { id } = await create({});
      const raw = '{not looked at';
      const deleted = await client.call('DELETE', `${prefix}/tasks/${id}`, { token: owner.token, raw });
      expect([deleted.status, deleted.body]).toEqual([200, { success: true, message: SENTENCE }]);
      for (const [method, json] of [['DELETE'], ['GET'], ['PATCH', {}]] as const)
        expectError(await call(method, `/${id}`, json), NOT_FOUND);
    });

    it('of other users look exactly like tasks that do not exist', async () => {
      const { id } = await create({});
      for (const [method, json] of [['GET'], ['PATCH', { title: 'Stolen' }], ['DELETE']] as const) {
        const responses = [];
        for (const path of [id, randomUUID(), 'no-uuid'])
          responses.push(await call(method, `/${path}`, json, stranger));
        for (const response of responses) expectError(response, NOT_FOUND);
        expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
      }
      expect((await call('GET', `/${id}`)).body.data.title).toBe('A task');
      expect((await list('', stranger)).map((task) => task.id)).not.toContain(id);
    });

    it('are refused with the names of the invalid fields as the client wrote them, before they are looked up', async () => {
      const texts = { title: 'ab', description: 5, category: [] };
      const json = { ...texts, dueDate: 'tomorrow', priority: 'urgent', completed: 'yes' };
      for (const [method, path] of [
        ['POST', ''],
        ['PATCH', `/${randomUUID()}`],
        ['PATCH', '/nonsense'],
      ] as const) {
        const response = await call(method, path, json);
        expectError(response, INVALID);
        expect(response.body.error.details?.map(({ path }) => path).toSorted()).toEqual(keysOf(json));
      }
    });

    describe('conditional requests', () => {
      let path: string;
      beforeEach(async () => {
        path = `${prefix}/tasks/${(await create({})).id}`;
      });
      const send = (method: string, header: string, tag: string, at = path) =>
        client.call(method, at, {
          token: owner.token,
          headers: { [header]: tag },
          ...(method === 'PATCH' && { json: { title: 'Changed' } }),
        });

      it.each(
        casesOf({
          200: ['"1"', '*', '"7", "1"'],
          412: ['"2"', '"7", "8"', 'W/"1"', '"nonsense"', '"99999999999999999999"'],
          400: ['1', 'nonsense', '"1" "2"', 'w/"1"', ''],
        }),
      )('If-Match: %s is a %d', async (tag, status) => {
        const changed = await send('PATCH', 'if-match', tag);
        if (status === 412) expectError(changed, { status, code: 'PRECONDITION_FAILED', envelope: 'tasks' });
        else if (status === 400) expectError(changed, INVALID);
        else expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
        const { title } = (await client.call('GET', path, { token: owner.token })).body.data;
        expect(title).toBe(status === 200 ? 'Changed' : 'A task');
        expect((await send('DELETE', 'if-match', status === 200 ? '"2"' : tag)).status).toBe(status);
      });

      it.each(casesOf({ 404: ['"1"', '"7", "8"', '"nonsense"'], 400: ['1'] }))(
        'If-Match: %s of a task that is not there is a %d',
        async (tag, status) => {
          for (const id of [randomUUID(), 'no-uuid'])
            for (const method of ['PATCH', 'DELETE']) {
              const response = await send(method, 'if-match', tag, `${prefix}/tasks/${id}`);
              expect(response.status).toBe(status);
              if (status === 400) expect(response.body.error.details?.[0]?.path).toBe('If-Match');
            }
        },
      );

      it.each(casesOf({ 304: ['"1"', 'W/"1"', '"7", "1"', '*'], 200: ['"2"', '1', ''] }))(
        'If-None-Match: %s is a %d for GET and HEAD',
        async (tag, status) => {
          for (const method of ['GET', 'HEAD']) {
            const response = await send(method, 'if-none-match', tag);
            expect([response.status, response.headers.get('etag')]).toEqual([status, '"1"']);
            if (status === 304) expect([response.text, response.headers.get('content-type')]).toEqual(['', null]);
          }
          expect((await send('PATCH', 'if-none-match', '"2"')).body.data.title).toBe('Changed');
        },
      );
    });

    it('can be sent back as they were read: due_date is accepted for dueDate', async () => {
      const due = '2026-12-01T17:00:00.000Z';
      const task = await create({ due_date: due });
      expect(task.due_date).toBe(due);
      const patch = async (json: object) => (await call('PATCH', `/${task.id}`, json)).body.data;
      expect(await patch(task)).toMatchObject({ due_date: due });
      expect((await patch({ ...task, due_date: null })).due_date).toBeNull();
      expect((await create({ dueDate: due, due_date: 'nonsense' })).due_date).toBe(due);
      expect((await create({ dueDate: null, due_date: due })).due_date).toBeNull();
      for (const due_date of ['nonsense', 5]) {
        const { status, body } = await call('POST', '', { title: 'ab', due_date });
        expect([status, body.error.details?.map(({ path }) => path)]).toEqual([400, ['title', 'due_date']]);
        expect(body.message).toContain('due_date must be ');
      }
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
      const responses = await Promise.all(Array.from({ length: 8 }, () => post(racing, 'Racing')));
      expect(new Set(responses.filter(({ status }) => status === 201).map(({ body }) => body.data.id)).size).toBe(1);
      for (const { status } of responses) expect([201, 409]).toContain(status);
      expect((await list('')).filter(({ title }) => title === 'Racing')).toHaveLength(1);
      expect(other.body.error.details).toEqual([{ path: 'Idempotency-Key', message: SENTENCE }]);
      expect((await post('x'.repeat(255), 'Longest')).status).toBe(201);
      for (const bad of ['x'.repeat(256), '', 'caf\u00e9', 'a\tb']) expectError(await post(bad, 'Never'), INVALID);
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
      ['?%63ompleted=tru%65', 'five two'],
      ['?category=a+%26%20b', ''],
      [`?category=${'x'.repeat(10_000)}`, ''],
      ['?', 'five four three two one'],
      ['?&&=', 'five four three two one'],
      ['?__proto__=1', 'five four three two one'],
      ['?status=nonsense&sort=nonsense&page=0&completed[]=x', 'five four three two one'],
    ])('with %s is: %s', async (query, titles) => {
      expect((await list(query, lister)).map(({ title }) => title).join(' ')).toBe(titles);
    });

    it('has complete tasks, and only those of the caller, and names invalid parameters', async () => {
      for (const task of await list('', lister)) expect([keysOf(task), task.user_id]).toEqual([TASK_KEYS, lister.id]);
      const response = await call('GET', '?order=up&limit=0');
      expectError(response, INVALID);
      expect(response.body.error.details).toEqual([
        { path: 'order', message: 'order must be one of asc, desc.' },
        { path: 'limit', message: 'limit must be a whole number from 1 to 1000.' },
      ]);
    });

    it('has a link to the next page, if there is one', async () => {
      const seen: string[] = [];
      let query: string | undefined = '?limit=2&sortBy=priority&limit_=x';
      const linkOf = async (path: string) => {
        const { body, headers } = await call<Body<Task[]>>('GET', path, undefined, lister);
        seen.push(...body.data.map(({ title }) => title));
        return /^<(\?[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      };
      for (const next of ['?limit=2&sortBy=priority&offset=2', '?limit=2&sortBy=priority&offset=4', undefined]) {
        query = await linkOf(query ?? '');
        expect(query).toBe(next);
      }
      expect(seen.join(' ')).toBe('five one three four two');
      expect(await linkOf('')).toBeUndefined();
      expect(await linkOf('?limit=5')).toBeUndefined();
    });

    it('has at most 1,000 tasks', async () => {
      const { token } = await client.signUp();
      const aliases = Array.from({ length: 26 }, (_, at) => `t${at}: createTask(input: {title: "One of many"}) { id }`);
      for (let made = 0; made <= 1_000; made += aliases.length)
        expect((await client.graphql(`mutation { ${aliases.join(' ')} }`, { token })).body.errors).toBeUndefined();
      const full = await client.call<Body<Task[]>>('GET', `${prefix}/tasks`, { token });
      expect([full.body.count, full.headers.get('link')]).toEqual([1_000, '<?limit=1000&offset=1000>; rel="next"']);
      const reduced = await client.call<Body<Task[]>>('GET', '/reduced/api/tasks', { token });
      expect([reduced.body.data.length, reduced.body.total]).toEqual([1_000, 1_014]);
    }, 60_000);
  });

  it(`the statistics below ${prefix} count the tasks of the caller`, async () => {
    const account = await client.signUp();
    for (const data of [
      { total: 0, completed: 0, pending: 0, completionPercentage: 0 },
      { total: 3, completed: 1, pending: 2, completionPercentage: 33.33 },
    ]) {
      const { status, body } = await call('GET', '/stats', undefined, account);
      expect([status, body]).toEqual([200, { success: true, message: SENTENCE, data }]);
      for (const completed of [true, false, false]) await create({ completed }, account);
    }
  });
}

import { AppError, unavailable } from '@taskmesh/contracts';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, type Answered, type Client } from './rest-fakes/client.ts';

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

describe.each(['/api', '/full/api'])('the full contract below %s', (prefix) => {
  const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    client.call(method, `${prefix}${path}`, { token, headers, ...(json !== undefined && { json }) });
  const created = async (json: object = {}) =>
    (await send('POST', '/tasks', { title: 'Water the plants', ...json })).body.data;

  it('creates a task with 201, the caller as owner, and nulls for what was never set', async () => {
    const { status, body, headers } = await send('POST', '/tasks', { title: 'Water the plants' });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      message: expect.any(String),
      data: {
        id: expect.stringMatching(UUID),
        user_id: userId,
        title: 'Water the plants',
        description: null,
        completed: false,
        due_date: null,
        category: null,
        priority: 'medium',
        created_at: expect.stringMatching(UTC_MS),
        updated_at: body.data.created_at,
      },
    });
    expect(headers.get('etag')).toBe('"1"');
  });

  it('creates a task with every field', async () => {
    const data = await created({
      description: 'All but the cactus.',
      dueDate: '2026-12-01T18:00:00+01:00',
      category: 'home',
      priority: 'high',
      completed: true,
    });
    expect(data).toMatchObject({
      description: 'All but the cactus.',
      due_date: '2026-12-01T17:00:00.000Z',
      category: 'home',
      priority: 'high',
      completed: true,
    });
  });

  it('reads a task, whatever the case of its id', async () => {
    const data = await created();
    for (const id of [data.id, data.id.toUpperCase()]) {
      const { status, body, headers } = await send('GET', `/tasks/${id}`);
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, message: expect.any(String), data });
      expect(headers.get('etag')).toBe('"1"');
    }
  });

  it('changes only the fields that are sent, and updated_at', async () => {
    const before = await created({ description: 'All but the cactus.', category: 'home', priority: 'low' });
    const { status, body, headers } = await send('PATCH', `/tasks/${before.id}`, { completed: true, category: null });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: expect.any(String),
      data: { ...before, completed: true, category: null, updated_at: expect.stringMatching(UTC_MS) },
    });
    expect(body.data.updated_at > before.updated_at).toBe(true);
    expect(headers.get('etag')).toBe('"2"');
  });

  it('takes an empty PATCH as a change of updated_at', async () => {
    const before = await created();
    const { status, body } = await send('PATCH', `/tasks/${before.id}`, {});
    expect(status).toBe(200);
    expect(body.data).toEqual({ ...before, updated_at: expect.any(String) });
    expect(body.data.updated_at > before.updated_at).toBe(true);
  });

  it('deletes a task once, and says only success and message', async () => {
    const { id } = await created();
    const { status, body } = await send('DELETE', `/tasks/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, message: expect.any(String) });
    expect((await send('DELETE', `/tasks/${id}`)).status).toBe(404);
    expect((await send('GET', `/tasks/${id}`)).status).toBe(404);
  });

  it("shows another one's task as one that is not there", async () => {
    const { id } = await created();
    const missing = '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';
    const other = await client.signUp();
    for (const [method, json] of [['GET'], ['PATCH', { title: 'Mine now' }], ['DELETE']] as const) {
      const answers: Answered[] = [];
      for (const wanted of [id, missing])
        answers.push(
          await client.call(method, `${prefix}/tasks/${wanted}`, { token: other.token, ...(json && { json }) }),
        );
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect(answers[0]?.body).toEqual(answers[1]?.body);
      expect(answers[0]?.body).toEqual({ success: false, message: expect.any(String), error: { code: 'NOT_FOUND' } });
    }
    expect((await send('GET', `/tasks/${id}`)).body.data.title).toBe('Water the plants');
  });

  it('lists only the own tasks, newest first, with their count', async () => {
    const first = await created({ title: 'The first' });
    const second = await created({ title: 'The second' });
    const { status, body } = await send('GET', '/tasks');
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, message: expect.any(String), count: 2, data: [second, first] });
  });

  it('answers an empty list with a count of 0', async () => {
    expect((await send('GET', '/tasks')).body).toMatchObject({ success: true, count: 0, data: [] });
  });

  describe('the list', () => {
    const titles = async (query: string) =>
      (await send('GET', `/tasks${query}`)).body.data.map((row: { title: string }) => row.title);

    beforeEach(async () => {
      await created({ title: 'one', priority: 'high', category: 'home', dueDate: '2026-12-03T00:00:00Z' });
      await created({ title: 'two', priority: 'low', category: 'Home', completed: true });
      await created({ title: 'three', priority: 'medium', category: '', dueDate: '2026-12-01T00:00:00Z' });
      await created({
        title: 'four',
        priority: 'low',
        category: 'home',
        completed: true,
        dueDate: '2026-12-02T00:00:00Z',
      });
    });

    it.each([
      ['?completed=true', ['four', 'two']],
      ['?completed=false', ['three', 'one']],
      ['?category=home', ['four', 'one']],
      ['?category=', ['three']],
      ['?category=a+%26%20b', []],
      [`?category=${'x'.repeat(10_000)}`, []],
      ['?priority=low', ['four', 'two']],
      ['?priority=low&category=home&completed=true', ['four']],
      ['?sortBy=created_at&order=asc', ['one', 'two', 'three', 'four']],
      ['?order=asc', ['one', 'two', 'three', 'four']],
      ['?sortBy=priority', ['one', 'three', 'four', 'two']],
      ['?sortBy=priority&order=asc', ['two', 'four', 'three', 'one']],
      ['?sortBy=due_date&order=asc', ['three', 'four', 'one', 'two']],
      ['?sortBy=due_date&order=desc', ['one', 'four', 'three', 'two']],
      ['?limit=2', ['four', 'three']],
      ['?limit=2&offset=1', ['three', 'two']],
      ['?offset=4', []],
      ['?%63ompleted=tru%65', ['four', 'two']],
      ['?status=completed&sort=updated_at&completed[]=true&__proto__=1', ['four', 'three', 'two', 'one']],
      ['?', ['four', 'three', 'two', 'one']],
      ['?&&=', ['four', 'three', 'two', 'one']],
    ])('has what was asked for with %s', async (query, expected) => {
      expect(await titles(query)).toEqual(expected);
    });

    it('says where it goes on when there is more, and that there is not when there is not', async () => {
      const seen: string[] = [];
      let path: string | undefined = '?limit=3&category=home&sortBy=priority&limit_=x';
      await created({ title: 'five', priority: 'medium', category: 'home' });
      await created({ title: 'six', priority: 'low', category: 'home' });
      while (path !== undefined) {
        const { body, headers } = await send('GET', `/tasks${path}`);
        seen.push(...body.data.map((row: { title: string }) => row.title));
        const link: string | null = headers.get('link');
        path = link === null ? undefined : /^<(\?[^>]+)>; rel="next"$/.exec(link)?.[1];
        if (link !== null) expect(path).toBe('?limit=3&category=home&sortBy=priority&offset=3');
      }
      expect(seen).toEqual(['one', 'five', 'six', 'four']);
      expect((await send('GET', '/tasks')).headers.has('link')).toBe(false);
      expect((await send('GET', '/tasks?limit=5')).headers.get('link')).toBe('<?limit=5&offset=5>; rel="next"');
      expect((await send('GET', '/tasks?limit=5&offset=5')).headers.has('link')).toBe(false);
    });

    it('asks for at most 1,000 rows', async () => {
      await send('GET', '/tasks');
      expect(rest.tasks.listCalls.at(-1)).toMatchObject({ first: 1_000, offset: 0 });
    });
  });

  it('counts tasks', async () => {
    await created({ completed: true });
    await created();
    await created();
    const { status, body } = await send('GET', '/tasks/stats');
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: expect.any(String),
      data: { total: 3, completed: 1, pending: 2, completionPercentage: 33.33 },
    });
  });

  it('counts nothing as zeros', async () => {
    const { body } = await send('GET', '/tasks/stats');
    expect(body.data).toEqual({ total: 0, completed: 0, pending: 0, completionPercentage: 0 });
  });

  describe('Idempotency-Key', () => {
    const withKey = (json: unknown, key: string) => send('POST', '/tasks', json, { 'idempotency-key': key });

    it('makes one task of a retry', async () => {
      const first = await withKey({ title: 'Only once' }, 'key 1');
      const second = await withKey({ title: 'Only once' }, 'key 1');
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
      expect((await send('GET', '/tasks')).body.count).toBe(1);
    });

    it('answers 422 when the key comes with another body', async () => {
      await withKey({ title: 'Only once' }, 'key 2');
      const { status, body } = await withKey({ title: 'Something else' }, 'key 2');
      expect(status).toBe(422);
      expect(body).toEqual({
        success: false,
        message: expect.any(String),
        error: { code: 'BAD_USER_INPUT', details: [{ path: 'Idempotency-Key', message: expect.any(String) }] },
      });
    });

    it('answers 409 while the first request still runs', async () => {
      rest.tasks.failNext(new AppError('CONFLICT', 'A request with this key still runs.', { retryAfterSeconds: 1 }));
      const { status, body, headers } = await withKey({ title: 'Only once' }, 'key 3');
      expect([status, headers.get('retry-after')]).toEqual([409, '1']);
      expect(body.error).toEqual({ code: 'CONFLICT' });
    });

    it.each([
      ['x'.repeat(255), 201],
      ['x'.repeat(256), 400],
      ['', 400],
      ['caf\u00e9', 400],
      ['a\tb', 400],
    ])('is 1 to 255 printable ASCII characters (%#)', async (key, expected) => {
      expect((await withKey({ title: 'Only once' }, key)).status).toBe(expected);
    });

    it('is refused when it is sent twice, with a sentence', async () => {
      const sent = request(`${rest.origin}${prefix}/tasks`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          'idempotency-key': ['key 4', 'key 4'], // two lines, which `fetch` would join
        },
      });
      sent.end('{"title":"Only once"}');
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(400);
      expect(await json(response)).toMatchObject({
        error: { details: [{ path: 'Idempotency-Key', message: 'Idempotency-Key must be sent once.' }] },
      });
    });
  });

  describe('If-Match', () => {
    it.each([
      ['"1"', 200],
      ['*', 200],
      ['"7", "1"', 200],
      ['"2"', 412],
      ['"7", "8"', 412],
      ['W/"1"', 412],
      ['"nonsense"', 412],
      ['"99999999999999999999"', 412],
      ['1', 400],
      ['nonsense', 400],
      ['"1" "2"', 400],
      ['w/"1"', 400],
      ['', 400],
    ])('%s: PATCH and DELETE answer %d', async (tag, expected) => {
      for (const [method, json] of [['PATCH', { title: 'Changed' }], ['DELETE']] as const) {
        const { id } = await created();
        const { status, body } = await send(method, `/tasks/${id}`, json, { 'if-match': tag });
        expect(status).toBe(expected);
        if (expected === 412)
          expect(body).toEqual({ success: false, message: expect.any(String), error: { code: 'PRECONDITION_FAILED' } });
      }
    });

    it('changes nothing when it does not match', async () => {
      const { id } = await created();
      await send('PATCH', `/tasks/${id}`, { title: 'Changed' }, { 'if-match': '"2"' });
      expect((await send('GET', `/tasks/${id}`)).body.data.title).toBe('Water the plants');
    });

    it.each(['"1"', '"nonsense"', '"7", "8"'])('%s: a task that is not there stays a 404', async (tag) => {
      const path = '/tasks/0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';
      expect((await send('PATCH', path, { title: 'Changed' }, { 'if-match': tag })).status).toBe(404);
      expect((await send('DELETE', path, undefined, { 'if-match': tag })).status).toBe(404);
    });

    it.each(['0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d', 'not-a-uuid'])(
      'that is invalid is a 400 also for a task that is not there (%s)',
      async (unknown) => {
        const headers = { 'if-match': '1' };
        for (const [method, json] of [['PATCH', { title: 'Changed' }], ['DELETE']] as const) {
          const { status, body } = await send(method, `/tasks/${unknown}`, json, headers);
          expect([method, status, body.error.details[0].path]).toEqual([method, 400, 'If-Match']);
        }
      },
    );
  });

  describe('If-None-Match', () => {
    it.each([
      ['"1"', 304],
      ['W/"1"', 304],
      ['"7", "1"', 304],
      ['*', 304],
      ['"2"', 200],
      ['1', 200],
      ['', 200],
    ])('%s: GET and HEAD answer %d', async (tag, expected) => {
      const { id } = await created();
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await send(method, `/tasks/${id}`, undefined, { 'if-none-match': tag });
        expect([status, headers.get('etag')]).toEqual([expected, '"1"']);
        if (expected === 304) expect([text, headers.get('content-type')]).toEqual(['', null]);
      }
    });

    it('means nothing where a task is changed', async () => {
      const { id } = await created();
      const changed = await send('PATCH', `/tasks/${id}`, { title: 'Changed' }, { 'if-none-match': '"2"' });
      expect([changed.status, changed.body.data.title]).toEqual([200, 'Changed']);
    });
  });

  describe('due_date', () => {
    const DUE = '2026-12-01T17:00:00.000Z';

    it('counts as dueDate, so that a task may be sent back as it was read', async () => {
      const { id, due_date } = await created({ due_date: DUE });
      expect(due_date).toBe(DUE);
      const read = (await send('GET', `/tasks/${id}`)).body.data;
      expect((await send('PATCH', `/tasks/${id}`, read)).body.data).toMatchObject({ due_date: DUE });
      expect((await send('PATCH', `/tasks/${id}`, { ...read, due_date: null })).body.data.due_date).toBeNull();
    });

    it('does not count beside a dueDate, whatever it is', async () => {
      expect((await created({ dueDate: DUE, due_date: 'nonsense' })).due_date).toBe(DUE);
      expect((await created({ dueDate: null, due_date: DUE })).due_date).toBeNull();
    });

    it('is checked as dueDate is, and told by the name that was sent', async () => {
      const { id } = await created({});
      for (const [method, path] of [
        ['POST', '/tasks'],
        ['PATCH', `/tasks/${id}`],
      ] as const)
        for (const due_date of ['nonsense', 5]) {
          const { status, body } = await send(method, path, { title: 'ab', due_date });
          expect([status, body.error.details.map((issue: { path: string }) => issue.path)]).toEqual([
            400,
            ['title', 'due_date'],
          ]);
          expect(body.message).toContain('due_date must be ');
        }
    });
  });

  it('answers 503 and keeps the envelope while the tasks service is away', async () => {
    rest.tasks.failNext(unavailable());
    const { status, body, headers } = await send('GET', '/tasks');
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toEqual({
      success: false,
      message: expect.any(String),
      error: { code: 'SERVICE_UNAVAILABLE', requestId: headers.get('x-request-id') },
    });
  });

  it('answers a defect with 500 and the id of the request', async () => {
    rest.tasks.failNext(new Error('syntax error at or near "selct"'));
    const { status, body, text } = await send('GET', '/tasks/stats');
    expect(status).toBe(500);
    expect(body).toMatchObject({
      success: false,
      error: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
    });
    expect(text).not.toContain('selct');
  });
});

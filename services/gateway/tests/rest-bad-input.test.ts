import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, PASSWORD, type Client } from './rest-fakes/client.ts';

let rest: RestApp;
let client: Client;
let token: string;
let taskId: string;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
  ({ token } = await client.signUp());
  const { body } = await client.call('POST', '/api/tasks', { token, json: { title: 'Stays as it is' } });
  taskId = body.data.id;
});
afterAll(() => rest.stop());

/** A refused request must create neither an account nor a task. */
const stored = () => JSON.stringify([rest.auth.accounts(), rest.tasks.rows]);

const chars = (count: number, character = 'x') => character.repeat(count);
const quoted = (json: unknown) => {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text;
};
type Case = readonly [number, unknown];
const named = (cases: readonly Case[]) =>
  cases.map(([status, json]) => ({
    status,
    json,
    shown: quoted(json ?? null),
    raw: typeof json === 'string' ? json : JSON.stringify(json),
  }));

describe('sign-up', () => {
  const valid = { email: 'valid@example.com', password: PASSWORD, name: 'Person' };
  let count = 0;
  const own = () => `sign-up-${++count}@example.com`;

  it.each(
    named([
      [400, { password: PASSWORD, name: 'P' }],
      [400, { email: own(), name: 'P' }],
      [400, { email: own(), password: PASSWORD }],
      ...[5, true, null, [], {}].flatMap((wrong): Case[] => [
        [400, { ...valid, email: wrong }],
        [400, { ...valid, password: wrong }],
        [400, { ...valid, name: wrong }],
      ]),
      ...[
        '',
        ' ',
        'a',
        'a@',
        '@b',
        'a b@c',
        'a@b@c',
        'a@b.c\r\nBcc: x@y.z',
        'a@b.c\u0000',
        `${chars(251)}@b.c`,
        '\ud800@b.c',
        'a\u0085@b.c',
      ].map((email): Case => [400, { ...valid, email }]),
      [201, { ...valid, email: '"quoted+tag"@example.com' }],
      [201, { ...valid, email: 'jos\u00e9@b\u00fccher.example' }],
      [201, { ...valid, email: `  ${own()}  ` }],
      [400, { ...valid, email: own(), password: chars(7) }],
      [201, { ...valid, email: own(), password: chars(8) }],
      [201, { ...valid, email: own(), password: chars(128) }],
      [201, { ...valid, email: own(), password: chars(128, '\u{1f600}') }],
      [400, { ...valid, email: own(), password: chars(129) }],
      [400, { ...valid, email: own(), password: chars(2_000) }],
      [400, { ...valid, email: own(), password: chars(10, ' ') }],
      ...['', '   ', '\u200b', chars(256), 'a\u0000b', '\udc00'].map((name): Case => [
        400,
        { ...valid, email: own(), name },
      ]),
      [201, { ...valid, email: own(), name: '\u05e9\u05dc\u05d5\u05dd \u{1f44b}' }],
      [201, { ...valid, email: own(), name: "<script>alert(1)</script>'; drop table accounts; --" }],
      [201, { ...valid, email: own(), id: 'x', isAdmin: true, user_id: 1 }],
    ]),
  )('answers $status to $shown', async ({ status, raw }) => {
    const before = stored();
    const answer = await client.call('POST', '/api/auth/signup', { raw });
    expect(answer.status).toBe(status);
    expect(stored() === before).toBe(status !== 201);
  });
});

describe.each(['login', 'forgot-password'])('%s', (path) => {
  it.each(
    named([
      [400, {}],
      [400, { email: 5, password: 5 }],
      [400, { email: { $ne: null }, password: { $ne: null } }],
      [400, { email: ['a@b.c'], password: ['x'] }],
      [400, { email: null, password: null }],
      [400, { email: true, password: false }],
      [400, { email: `${chars(2_000)}@b.c`, password: chars(2_000) }],
    ]),
  )('answers $status to $shown', async ({ status, raw }) => {
    expect((await client.call('POST', `/api/auth/${path}`, { raw })).status).toBe(status);
  });
});

it.each(['', 'a', 'a@b.c\nBcc:x@y', 'a@b@c', 'a@b.c\u0000'])('forgot-password refuses %j', async (email) => {
  expect((await client.call('POST', '/api/auth/forgot-password', { json: { email } })).status).toBe(400);
});

it.each(['x', ' ', 'a@b@c', 'nobody@example.com\u0000'])(
  'login takes %j as an address that is simply wrong',
  async (email) => {
    expect((await client.call('POST', '/api/auth/login', { json: { email, password: 'x' } })).status).toBe(401);
  },
);

/** Bodies for a task, with the status that POST answers. */
const TASK_FIELDS: readonly (readonly [number, Record<string, unknown>])[] = [
  ...[
    null,
    5,
    true,
    [],
    {},
    '',
    'ab',
    chars(256),
    '   ',
    '\t\n ',
    '\u200b\u200b\u200b',
    '\u0085\u0085\u0085',
    'a\u0000bc',
  ].map((title) => [400, { title }] as const),
  [201, { title: 'abc' }],
  [201, { title: chars(255) }],
  [201, { title: chars(3, '\u{1f600}') }],
  [201, { title: chars(255, '\u{1f600}') }],
  [400, { title: chars(256, '\u{1f600}') }],
  [400, { title: '\u{1f600}a' }],
  [201, { title: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}' }],
  [201, { title: "1'; drop table tasks; --" }],
  [201, { title: '<script>{{7*7}}${jndi:ldap://x}</script>' }],
  [201, { description: chars(2_000) }],
  [400, { description: chars(2_001) }],
  [201, { description: '' }],
  [201, { description: null }],
  ...[5, [], {}, true, 'nul \u0000'].map((description) => [400, { description }] as const),
  ...['true', 1, 0, null, 'yes', []].map((completed) => [400, { completed }] as const),
  ...['High', 'HIGH', 'urgent', '', null, 1, ['low']].map((priority) => [400, { priority }] as const),
  ...['low', 'medium', 'high'].map((priority) => [201, { priority }] as const),
  ...[
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00+14:00',
    '2026-01-01T00:00:00.123456789Z',
    '2026-01-01T00:00:00-00:00',
    '2024-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '1999-01-01T00:00:00Z',
    null,
  ].map((dueDate) => [201, { dueDate }] as const),
  ...[
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T24:00:00Z',
    '+275760-09-13T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    'infinity',
    'now',
    'yesterday',
    '1',
    'Jan 1 2026',
    '2026-1-1',
    '2026-001',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01 00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '',
    5,
    1_795_168_800_000,
    true,
    {},
    [],
  ].map((dueDate) => [400, { dueDate }] as const),
  ...[5, [], {}, false, chars(256), 'a\u0000'].map((category) => [400, { category }] as const),
  [201, { category: '' }],
  [201, { category: null }],
  [201, { category: chars(255, '\u{1f600}') }],
  [201, { id: 'x', user_id: 'x', created_at: 'x', isAdmin: true, version: 7 }],
  [201, { dueDate: null, due_date: 'nonsense' }],
  [400, { due_date: 'nonsense' }],
];

describe('a new task', () => {
  it.each(
    named([
      ...TASK_FIELDS.map(([status, fields]) => [status, { title: 'abc', ...fields }] as const),
      [400, {}],
      [400, { due_date: 'x' }],
    ]),
  )('answers $status to $shown', async ({ status, raw }) => {
    const before = stored();
    expect((await client.call('POST', '/api/tasks', { token, raw })).status).toBe(status);
    expect(stored() === before).toBe(status !== 201);
  });

  it.each(
    named([
      [400, '{"title":"ab\\ud800c"}'],
      [400, '{"title":"abc","description":"\\udc00"}'],
      [400, '{"title":"abc","category":"\\ud83d"}'],
    ]),
  )('refuses the lone surrogate in $shown', async ({ status, raw }) => {
    expect((await client.call('POST', '/api/tasks', { token, raw })).status).toBe(status);
  });

  it('stores text exactly as it is sent', async () => {
    const title = ' \u00e9e\u0301 <b>"quoted"</b> \\ \u{1f469}\u200d\u{1f467} \u202eabc ';
    const { body } = await client.call('POST', '/api/tasks', {
      token,
      json: { title, description: title, category: title },
    });
    expect(body.data).toMatchObject({ title, description: title, category: title });
    expect((await client.call('GET', `/api/tasks/${body.data.id}`, { token })).body.data).toEqual(body.data);
  });

  it.each([
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00+14:00', '2025-12-31T10:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['2026-06-30t23:59:59.9z', '2026-06-30T23:59:59.900Z'],
  ])('returns the due date %s as %s', async (dueDate, expected) => {
    const { body } = await client.call('POST', '/api/tasks', { token, json: { title: 'abc', dueDate } });
    expect(body.data.due_date).toBe(expected);
  });
});

describe('a change of a task', () => {
  it.each(named(TASK_FIELDS.map(([status, fields]) => [status === 201 ? 200 : status, fields] as const)))(
    'answers $status to $shown',
    async ({ status, raw }) => {
      const before = stored();
      expect((await client.call('PATCH', `/api/tasks/${taskId}`, { token, raw })).status).toBe(status);
      expect(stored() === before).toBe(status !== 200);
    },
  );

  it('is checked before the task is looked for', async () => {
    for (const id of ['0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d', 'nonsense']) {
      expect((await client.call('PATCH', `/api/tasks/${id}`, { token, json: { title: '' } })).status).toBe(400);
      expect((await client.call('PATCH', `/api/tasks/${id}`, { token, json: {} })).status).toBe(404);
    }
  });
});

describe.each(['/api', '/reduced/api'])('a task id below %s', (prefix) => {
  it.each([
    'abc',
    '1',
    'ffffffff-ffff-ffff-ffff-fffffffffffff',
    '%7B0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d%7D',
    '0199e1c30a417d1e8d5c2f6a8a1b9c3d',
    'urn:uuid:0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d',
    '00000000-0000-0000-0000-000000000000',
    '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d',
    '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d%00',
    '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d%0a',
    'a%2fb',
    "'%20or%201=1",
    '%F0%9F%98%80',
    '__proto__',
    'constructor',
    'STATS',
    chars(100),
  ])('that is %s is not found', async (id) => {
    for (const [method, json] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const answer = await client.call(method, `${prefix}/tasks/${id}`, { token, ...(json && { json }) });
      expect(answer.status).toBe(404);
      expect(answer.body.error).toEqual({ code: 'NOT_FOUND' });
    }
  });
});

describe('the query of the list', () => {
  it.each([
    ...['TRUE', '1', '', 'null', 'true%00', 'true+'].map((value) => `completed=${value}`),
    'completed',
    ...['urgent', 'LOW', 'High', ''].map((value) => `priority=${value}`),
    ...['title', 'created_at;drop', 'createdAt', '__proto__', 'updated_at', ''].map((value) => `sortBy=${value}`),
    ...['ASC', 'random', ''].map((value) => `order=${value}`),
    ...['0', '-1', '1001', '1.5', '1e2', 'x', '', '+1', '%31%20', '0x10', '99999999999999999999'].map(
      (value) => `limit=${value}`,
    ),
    ...['-1', '2147483648', 'x', '', '1.0'].map((value) => `offset=${value}`),
    'completed=true&completed=false',
    'completed=true&completed=true',
    'category=a&category=b',
    'completed=true&%63ompleted=true',
    'category=%00',
    'category=%ff',
    'category=%',
    'category=%c3%28',
    'category=%ed%a0%80',
    'unknown=%ff',
    '%ff=1',
  ])('%s is a 400', async (query) => {
    const { status, body } = await client.call('GET', `/api/tasks?${query}`, { token });
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, error: { code: 'BAD_USER_INPUT' } });
  });

  it.each([
    'limit=1000',
    'limit=0007',
    'offset=2147483647',
    'category=%F0%9F%98%80',
    'category=100%25',
    'completed[]=true&completed[]=false',
    'unknown=1&unknown=2',
    '__proto__=1&constructor=2&toString=3',
    Array.from({ length: 1_000 }, (_, index) => `p${index}=1`).join('&'),
  ])('%s is fine', async (query) => {
    expect((await client.call('GET', `/api/tasks?${query}`, { token })).status).toBe(200);
  });

  it('names the parameter that is wrong', async () => {
    const { body } = await client.call('GET', '/api/tasks?order=up&limit=0', { token });
    expect(body.error.details).toEqual([
      { path: 'order', message: 'order must be one of asc, desc.' },
      { path: 'limit', message: 'limit must be a whole number from 1 to 1000.' },
    ]);
  });

  it.each([
    'status=x',
    'status=',
    'sort=title',
    'sort=due_date',
    'order=x',
    'page=0',
    'page=x',
    'page=99999999',
    'limit=0',
    'limit=1001',
  ])('%s is a 400 in the reduced variant', async (query) => {
    const { status, body } = await client.call('GET', `/reduced/api/tasks?${query}`, { token });
    expect(status).toBe(400);
    expect(body).toMatchObject({ message: expect.any(String), error: { code: 'BAD_USER_INPUT' } });
    expect(body).not.toHaveProperty('success');
  });
});

describe('a task of the reduced variant', () => {
  it.each(
    named([
      [400, {}],
      [400, { title: 5 }],
      [400, { title: 'ab' }],
      [400, { title: chars(256) }],
      [400, { title: 'abc', description: 5 }],
      [400, { title: 'abc', description: chars(2_001) }],
      [201, { title: 'abc', completed: 'nonsense', priority: 'urgent', dueDate: 'nonsense', category: 5 }],
      [201, { title: 'abc', description: null }],
    ]),
  )('answers $status to $shown', async ({ status, raw }) => {
    expect((await client.call('POST', '/reduced/api/tasks', { token, raw })).status).toBe(status);
  });

  it.each(
    named([
      [400, { title: null }],
      [400, { completed: null }],
      [400, { completed: 'true' }],
      [200, { priority: 'urgent', category: 5, dueDate: 'nonsense' }],
      [200, { description: null }],
    ]),
  )('answers $status to the change $shown', async ({ status, raw }) => {
    expect((await client.call('PATCH', `/reduced/api/tasks/${taskId}`, { token, raw })).status).toBe(status);
  });
});

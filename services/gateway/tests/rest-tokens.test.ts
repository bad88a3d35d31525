import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, PASSWORD, type Client } from './rest-fakes/client.ts';

let rest: RestApp;
let client: Client;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
});
afterAll(() => rest.stop());

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

const create = (token: string, scope: string, prefix = '/api') =>
  client.call('POST', `${prefix}/auth/tokens`, { token, json: { name: 'A program', scope, expires_at: inDays(30) } });

describe.each(['/api', '/full/api', '/reduced/api'])('personal tokens below %s', (prefix) => {
  it('are made, shown once, listed without what they are, and ended', async () => {
    const { token } = await client.signUp();
    const made = await create(token, 'write', prefix);
    const { token: secret, ...rest } = made.body;
    expect([made.status, rest]).toEqual([
      201,
      {
        ...{ id: expect.any(String), name: 'A program', scope: 'write', last_used_at: null },
        ...{ created_at: expect.any(String), expires_at: expect.any(String) },
      },
    ]);
    expect(secret).toMatch(/^taskmesh_pat_[\w-]{43}$/);
    const list = await client.call('GET', `${prefix}/auth/tokens`, { token });
    expect([list.status, list.body]).toEqual([200, { tokens: [rest] }]);
    const end = () => client.call('DELETE', `${prefix}/auth/tokens/${rest.id}`, { token });
    expect((await client.call('GET', `${prefix}/auth/me`, { token: secret })).status).toBe(200);
    expect([(await end()).status, (await end()).status]).toEqual([200, 404]);
    expect((await client.call('GET', `${prefix}/auth/me`, { token: secret })).status).toBe(401);
  });

  it.each([
    ['name', { name: '' }],
    ['scope', { scope: 'admin' }],
    ['scope', { scope: 'READ' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['expires_at', { expires_at: undefined }],
  ])('are refused with a bad %s: %j', async (path, change) => {
    const { token } = await client.signUp();
    const json = { name: 'A program', scope: 'read', expires_at: inDays(30), ...change };
    const { status, body } = await client.call('POST', `${prefix}/auth/tokens`, { token, json });
    expect([status, body.error.details?.[0]?.path]).toEqual([400, path]);
  });
});

describe('a personal token', () => {
  it('says of itself what an access token would', async () => {
    const { token, userId, email } = await client.signUp();
    const { body: made } = await create(token, 'read');
    const { body } = await client.call('GET', '/api/auth/me', { token: made.token });
    const [iat, exp] = [made.created_at, made.expires_at].map((time) => Math.floor(Date.parse(time) / 1000));
    expect(body).toEqual({ userId, email, iat, exp });
  });

  it('that may write does with tasks what its owner may, and that may read reads only', async () => {
    const { token } = await client.signUp();
    const [write, read] = [(await create(token, 'write')).body.token, (await create(token, 'read')).body.token];
    const task = await client.call('POST', '/api/tasks', { token: write, json: { title: 'By a program' } });
    expect(task.status).toBe(201);
    const path = `/api/tasks/${task.body.data.id}`;
    expect((await client.call('GET', path, { token: read })).status).toBe(200);
    expect((await client.call('GET', '/api/tasks', { token: read })).body.count).toBe(1);
    for (const [method, at, json] of [
      ['POST', '/api/tasks', { title: 'Another' }],
      ['PATCH', path, { completed: true }],
      ['DELETE', path, undefined],
      ['PATCH', '/api/auth/profile', { name: 'X' }],
    ] as const) {
      // prettier-ignore
      const refused = await client.call(method, at, { token: read, ...(json && { json }) });
      expect([refused.status, refused.body.error.code, refused.body.message]).toEqual([
        403,
        'FORBIDDEN',
        'This personal token may only read.',
      ]);
    }
    expect((await client.call('GET', path, { token: read })).body.data).toMatchObject({ completed: false });
    expect((await client.call('DELETE', path, { token: write })).status).toBe(200);
  });

  it.each(['read', 'write'])('of scope %s decides nothing about the account', async (scope) => {
    const { token } = await client.signUp();
    const { body: made } = await create(token, scope);
    const { id } = (await client.call('GET', '/api/auth/sessions', { token })).body.sessions[0];
    const attempts: [string, string, object?][] = [
      ['POST', '/api/auth/logout'],
      ['POST', '/api/auth/tokens', { name: 'More', scope: 'write', expires_at: inDays(1) }],
      ['DELETE', `/api/auth/tokens/${made.id}`],
      ['DELETE', '/api/auth/sessions'],
      ['DELETE', `/api/auth/sessions/${id}`],
      [
        'POST',
        '/api/auth/change-password',
        { current_password: PASSWORD, password: 'another long and winding phrase' },
      ],
      ['DELETE', '/api/auth/profile', { password: PASSWORD }],
      ['POST', '/api/auth/change-email', { email: 'another@example.com', password: PASSWORD }],
    ];
    for (const [method, path, json] of attempts) {
      const refused = await client.call(method, path, { token: made.token, ...(json && { json }) });
      expect([path, refused.status, refused.body.error.code]).toEqual([path, 403, 'FORBIDDEN']);
    }
    for (const each of [token, made.token])
      expect((await client.call('GET', '/api/auth/me', { token: each })).status).toBe(200);
    expect((await client.call('GET', '/api/auth/tokens', { token })).body.tokens).toHaveLength(1);
  });

  it.each([
    'taskmesh_pat_',
    `taskmesh_pat_${'x'.repeat(43)}`,
    `taskmesh_pat_${'x'.repeat(43)}.a.b`,
    'taskmesh_pat_../../x',
  ])('that nobody made is refused: %s', async (token) => {
    expect((await client.call('GET', '/api/auth/me', { token })).status).toBe(401);
  });

  it("ends nobody else's", async () => {
    const [ada, bob] = [await client.signUp(), await client.signUp()];
    const { body: made } = await create(bob.token, 'read');
    const foreign = await client.call('DELETE', `/api/auth/tokens/${made.id}`, { token: ada.token });
    const none = await client.call('DELETE', '/api/auth/tokens/nonsense', { token: ada.token });
    expect([foreign.status, foreign.body]).toEqual([404, none.body]);
    expect((await client.call('GET', '/api/auth/me', { token: made.token })).status).toBe(200);
    expect((await client.call('GET', '/api/auth/tokens', { token: ada.token })).body).toEqual({ tokens: [] });
  });
});

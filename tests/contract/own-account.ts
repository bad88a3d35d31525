import { eventually } from '@taskmesh/testing';
import { createRest, newEmail, PASSWORD } from '../http.ts';
import { type Account, clientOf, type Platform } from './client.ts';
import { mailedToken } from './recovery.ts';
import { expectError, TIME, UUID } from './shapes.ts';

const NEW_PASSWORD = 'another long and winding phrase';
const NOT_FOUND = { status: 404, code: 'NOT_FOUND', envelope: 'plain' } as const;
const READ_ONLY = 'This personal token may only read.';
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

type Session = { id: string; current: boolean };
type PersonalToken = Record<'id' | 'token' | 'created_at' | 'expires_at', string>;

/** Users' own accounts: profile, password, address, sessions, personal tokens, export, deletion. */
export function describeOwnAccount(platform: () => Platform) {
  const client = clientOf(platform);

  const call = <Content = object>(token: string | undefined, method: string, path: string, json?: object) =>
    client.call<Content>(method, `/api/auth${path}`, { token, ...(json && { json }) });
  const statusOf = async (token: string) => (await call(token, 'GET', '/me')).status;
  /** Expects every gateway to refuse a token within a second. */
  const ends = async (token: string) => {
    for (const url of platform().urls) {
      const me = async () => (await createRest(url)('GET', '/auth/me', { token })).status;
      await eventually(async () => expect(await me()).toBe(401), { timeoutMs: 1_000 });
    }
  };
  const logIn = async (email: string) => (await client.logIn(email)).body.access_token;
  /** Returns the status of a request, and the field that its error names. */
  const outcome = async (token: string | undefined, method: string, path: string, json?: object) => {
    const { status, body } = await client.call(method, `/api/auth${path}`, { token, ...(json && { json }) });
    return [status, body.error?.details?.[0]?.path];
  };
  const createToken = (token: string, scope: string) =>
    call<PersonalToken>(token, 'POST', '/tokens', { name: 'A program', scope, expires_at: inDays(30) });
  const list = async (token: string) => (await call<{ sessions: Session[] }>(token, 'GET', '/sessions')).body.sessions;

  describe('the own account', () => {
    it('shows who it is, and changes its name', async () => {
      const { token, email, id } = await client.signUp();
      const profile = { id, email, name: 'Ada Lovelace', email_confirmed_at: TIME };
      expect((await call(token, 'GET', '/profile')).body).toEqual(profile);
      const changed = await call(token, 'PATCH', '/profile', { name: ' Ada ' });
      expect([changed.status, changed.body]).toEqual([200, { ...profile, name: 'Ada' }]);
      expect(await outcome(token, 'PATCH', '/profile', { name: ' ' })).toEqual([400, 'name']);
    });

    it('changes its password, which ends all other sessions', async () => {
      const { token, email } = await client.signUp();
      const other = await logIn(email);
      const json = { current_password: PASSWORD, password: NEW_PASSWORD };
      const { status, body } = await call(token, 'POST', '/change-password', json);
      expect([status, body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      await ends(other);
      expect(await statusOf(token)).toBe(200);
      expect((await client.logIn(email)).status).toBe(401);
      expect((await client.logIn(email, NEW_PASSWORD)).status).toBe(200);
    });

    it('names each invalid field as the client wrote it', async () => {
      const { token } = await client.signUp();
      const change = { current_password: PASSWORD, password: NEW_PASSWORD };
      const wrong: [string, object, string][] = [
        ['/change-password', { ...change, current_password: 'x' }, 'current_password'],
        ['/change-password', { ...change, password: 'x' }, 'password'],
        ['/change-password', { password: NEW_PASSWORD }, 'current_password'],
        ['/change-email', { email: newEmail(), password: 'x' }, 'password'],
        ['/change-email', { email: 'no address', password: PASSWORD }, 'email'],
        ['/confirm-email', { token: 'x' }, 'token'],
      ];
      for (const [path, json, field] of wrong) expect(await outcome(token, 'POST', path, json)).toEqual([400, field]);
    });

    it('changes its address in two steps; the second needs the session or the password', async () => {
      const { token } = await client.signUp();
      const { token: personal } = (await createToken(token, 'write')).body;
      const request = async () => {
        const email = newEmail();
        expect((await call(token, 'POST', '/change-email', { email, password: PASSWORD })).status).toBe(200);
        return { email, mailed: await mailedToken(platform(), email, 'confirm-email') };
      };
      const { email, mailed } = await request();
      const confirm = (json: object, bearer?: string) =>
        outcome(bearer, 'POST', '/confirm-email', { token: mailed, ...json });
      for (const json of [{}, { password: '' }, { password: null }])
        expect(await confirm(json)).toEqual([401, undefined]);
      expect(await confirm({}, 'stale')).toEqual([401, undefined]);
      expect(await confirm({}, personal)).toEqual([403, undefined]);
      expect(await confirm({ password: 'x' })).toEqual([400, 'password']);
      expect(await confirm({ password: 1 })).toEqual([400, 'password']);
      expect(await confirm({ password: PASSWORD }, 'stale')).toEqual([200, undefined]);
      expect((await call(token, 'GET', '/profile')).body).toMatchObject({ email });
      const next = await request();
      expect(await outcome(token, 'POST', '/confirm-email', { token: next.mailed })).toEqual([200, undefined]);
    });

    it('is deleted with its password, and all of its sessions end', async () => {
      const { token, email } = await client.signUp();
      const other = await logIn(email);
      expect(await outcome(token, 'DELETE', '/profile', { password: 'x' })).toEqual([400, 'password']);
      expect((await outcome(token, 'DELETE', '/profile'))[0]).toBe(400);
      expect((await outcome(token, 'DELETE', '/profile', {}))[0]).toBe(400);
      expect(await statusOf(token)).toBe(200);
      const { status, body } = await call(token, 'DELETE', '/profile', { password: PASSWORD });
      expect([status, body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      for (const ended of [token, other]) await ends(ended);
      expect((await client.logIn(email)).status).toBe(401);
      expect((await client.signUp(email)).email).toBe(email);
    });
  });

  describe('a session', () => {
    it('is listed with its times, IP address and program', async () => {
      const { token, email } = await client.signUp();
      const headers = { 'user-agent': `Phone/2 ${'x'.repeat(300)}` };
      await client.call('POST', '/api/auth/login', { json: { email, password: PASSWORD }, headers });
      const sessions = await list(token);
      const times = { created_at: TIME, last_used_at: TIME };
      const own = { id: UUID, ...times, ip: '127.0.0.1', client: 'node', current: true };
      expect(sessions.filter(({ current }) => current)).toEqual([own]);
      expect(sessions.filter(({ current }) => !current)).toMatchObject([{ client: `Phone/2 ${'x'.repeat(247)}` }]);
    });

    it('can be ended alone, or with all others', async () => {
      const { token, email } = await client.signUp();
      const [one, two, bob] = [await logIn(email), await logIn(email), await client.signUp()];
      const id = (await list(one)).find(({ current }) => current)?.id;
      const ended = await call(token, 'DELETE', `/sessions/${id}`);
      expect([ended.status, ended.body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      await ends(one);
      expectError(await client.call('DELETE', `/api/auth/sessions/${id}`, { token }), NOT_FOUND);
      expect(await statusOf(two)).toBe(200);
      expect((await call(token, 'DELETE', '/sessions')).status).toBe(200);
      await ends(two);
      expect([await statusOf(token), await statusOf(bob.token)]).toEqual([200, 200]);
    });
  });

  describe('a personal token', () => {
    let ada: Account;
    beforeEach(async () => {
      ada = await client.signUp();
    });

    it('is created, shown once, listed without its secret, and ended', async () => {
      const made = await createToken(ada.token, 'write');
      const { token: secret, ...rest } = made.body;
      expect(made.status).toBe(201);
      expect(made.headers.get('cache-control')).toBe('no-store');
      const times = { created_at: TIME, expires_at: TIME, last_used_at: null };
      expect(rest).toEqual({ id: expect.any(String), name: 'A program', scope: 'write', ...times });
      expect(secret).toMatch(/^taskmesh_pat_[\w-]{43}$/);
      expect((await call(ada.token, 'GET', '/tokens')).body).toEqual({ tokens: [rest] });
      const { body: me } = await call(secret, 'GET', '/me');
      const [iat, exp] = [rest.created_at, rest.expires_at].map((time) => Math.floor(Date.parse(time) / 1_000));
      expect(me).toEqual({ userId: ada.id, email: ada.email, iat, exp });
      expect((await call(ada.token, 'DELETE', `/tokens/${rest.id}`)).status).toBe(200);
      expectError(await client.call('DELETE', `/api/auth/tokens/${rest.id}`, { token: ada.token }), NOT_FOUND);
      await ends(secret);
    });

    it.each([
      ['name', { name: '' }],
      ['scope', { scope: 'admin' }],
      ['scope', { scope: 'READ' }],
      ['expires_at', { expires_at: 'tomorrow' }],
      ['expires_at', { expires_at: undefined }],
    ])('is refused with a bad %s: %j', async (field, change) => {
      const json = { name: 'A program', scope: 'read', expires_at: inDays(30), ...change };
      expect(await outcome(ada.token, 'POST', '/tokens', json)).toEqual([400, field]);
    });

    it('can write tasks, or only read them, by its scope', async () => {
      const { token: write } = (await createToken(ada.token, 'write')).body;
      const { token: read } = (await createToken(ada.token, 'read')).body;
      const made = await client.call('POST', '/api/tasks', { token: write, json: { title: 'By a program' } });
      expect(made.status).toBe(201);
      const path = `/api/tasks/${made.body.data.id}`;
      for (const [method, at, json] of [
        ['POST', '/api/tasks', { title: 'Not by this one' }],
        ['PATCH', path, { completed: true }],
        ['DELETE', path],
        ['PATCH', '/api/auth/profile', { name: 'X' }],
      ] as const) {
        const { status, body } = await client.call(method, at, { token: read, ...(json && { json }) });
        expect([status, body.error.code, body.message]).toEqual([403, 'FORBIDDEN', READ_ONLY]);
      }
      const { body } = await client.graphql(`mutation { deleteTask(id: "${made.body.data.id}") }`, { token: read });
      expect(body.errors).toMatchObject([{ message: READ_ONLY, extensions: { code: 'FORBIDDEN' } }]);
      expect((await client.call('GET', path, { token: read })).body.data).toMatchObject({ completed: false });
      expect((await client.call('DELETE', path, { token: write })).status).toBe(200);
    });

    it.each(['read', 'write'])('of scope %s cannot change the account', async (scope) => {
      const { id, token } = (await createToken(ada.token, scope)).body;
      const attempts: [string, string, object?][] = [
        ['POST', '/logout'],
        ['POST', '/tokens', { name: 'More', scope: 'write', expires_at: inDays(1) }],
        ['DELETE', `/tokens/${id}`],
        ['DELETE', '/sessions'],
        ['DELETE', '/sessions/x'],
        ['POST', '/change-password', { current_password: PASSWORD, password: NEW_PASSWORD }],
        ['DELETE', '/profile', { password: PASSWORD }],
        ['POST', '/change-email', { email: newEmail(), password: PASSWORD }],
      ];
      for (const [method, path, json] of attempts)
        expect([path, ...(await outcome(token, method, path, json))]).toEqual([path, 403, undefined]);
      for (const each of [token, ada.token]) expect(await statusOf(each)).toBe(200);
      expect((await call<{ tokens: object[] }>(ada.token, 'GET', '/tokens')).body.tokens).toHaveLength(1);
    });

    it('that was never issued is refused', async () => {
      for (const secret of ['', 'x'.repeat(43), `${'x'.repeat(43)}.a.b`, '../../x'])
        expect(await statusOf(`taskmesh_pat_${secret}`)).toBe(401);
    });
  });

  it('a session and a token of another account look exactly like those that do not exist', async () => {
    const [ada, bob] = [await client.signUp(), await client.signUp()];
    const { id, token } = (await createToken(bob.token, 'read')).body;
    const theirs = { sessions: (await list(bob.token))[0]?.id, tokens: id };
    for (const [path, foreign] of Object.entries(theirs)) {
      const remove = (of = '') => client.call('DELETE', `/api/auth/${path}/${of}`, { token: ada.token });
      const [response, missing] = [await remove(foreign), await remove('nonsense')];
      expectError(response, NOT_FOUND);
      expect(response.text).toBe(missing.text);
    }
    for (const each of [bob.token, token]) expect(await statusOf(each)).toBe(200);
    expect((await call(ada.token, 'GET', '/tokens')).body).toEqual({ tokens: [] });
  });

  describe('the audit trail and the export', () => {
    type Trail = Record<'entries', { id: string }[]>;

    it('the trail has pages, each with the position of the next one', async () => {
      const { token, email } = await client.signUp();
      for (let count = 0; count < 4; count++) await logIn(email);
      const seen: { id: string }[] = [];
      let query = '?limit=2';
      for (let pages = 1; query !== ''; pages++) {
        const { body, headers } = await call<Trail>(token, 'GET', `/audit${query}`);
        seen.push(...body.entries);
        query = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
        expect(pages).toBeLessThanOrEqual(3);
      }
      expect(seen).toEqual((await call<Trail>(token, 'GET', '/audit')).body.entries);
      expect(seen).toHaveLength(5);
      for (const bad of ['limit=0', 'limit=1001', 'limit=x', 'after=x', 'after=1&after=2', 'after='])
        expect([bad, (await call(token, 'GET', `/audit?${bad}`)).status]).toEqual([bad, 400]);
    });

    it('the export has all data of the account, beyond one page, and no data of others', async () => {
      const [ada, bob] = [await client.signUp(), await client.signUp()];
      const titles = Array.from({ length: 520 }, (_, index) => `Task ${index}`);
      const fields = titles.map((title, at) => `t${at}: createTask(input: {title: "${title}"}) { id }`);
      for (let from = 0; from < titles.length; from += 26) {
        const mutation = `mutation { ${fields.slice(from, from + 26).join(' ')} }`;
        expect((await client.graphql(mutation, { token: ada.token })).body.errors).toBeUndefined();
      }
      await client.call('POST', '/api/tasks', { token: bob.token, json: { title: 'Not of Ada' } });
      await createToken(ada.token, 'read');
      const { body, headers, text } = await call<Record<string, { title: string }[]>>(ada.token, 'GET', '/export');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(Object.keys(body)).toEqual(['profile', 'sessions', 'tokens', 'identities', 'audit', 'tasks']);
      expect(body.profile).toMatchObject({ id: ada.id, email: ada.email });
      expect([body.sessions?.length, body.tokens?.length]).toEqual([1, 1]);
      expect(body.audit).toHaveLength(2);
      expect(body.tasks?.map(({ title }) => title).toSorted()).toEqual(titles.toSorted());
      expect(text).not.toMatch(/taskmesh_pat_|Not of Ada/);
      const head = await call(ada.token, 'HEAD', '/export');
      expect([head.status, head.text]).toEqual([200, '']);
    }, 60_000);
  });
}

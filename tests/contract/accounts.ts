import { eventually } from '@taskmesh/testing';
import { type CallOptions, type Client, clientOf, keysOf, type Platform } from './client.ts';
import { newEmail, PASSWORD } from '../http.ts';
import { expectError, TIME, UUID } from './shapes.ts';

const REFUSED_LOGIN = { status: 401, code: 'UNAUTHENTICATED', envelope: 'plain' } as const;

/** Accounts and sessions: the auth rows of the interface document, identical below each prefix. */
export function describeAccounts(platform: () => Platform) {
  const client = clientOf(platform);
  const post = (path: string, json: object, more: CallOptions = {}) =>
    client.call('POST', `/api/auth/${path}`, { json, ...more });
  const me = (token?: string, prefix = '/api') =>
    client.call<Record<string, unknown>>('GET', `${prefix}/auth/me`, { token });
  const ends = (token: string) =>
    eventually(async () => expectError(await me(token), REFUSED_LOGIN), { timeoutMs: 1_000 });
  const person = (email = newEmail()) => ({ email, password: PASSWORD, name: 'Ada' });

  describe.each(['/api', '/full/api', '/reduced/api'])('accounts below %s', (prefix) => {
    it('can be created, used and logged out of, with exactly the documented responses', async () => {
      const email = newEmail();
      const signUp = await client.call('POST', `${prefix}/auth/signup`, { json: person(email) });
      expect(signUp.status).toBe(201);
      const access_token = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(signUp.body).toEqual({ access_token, user: { id: UUID, email, email_confirmed_at: TIME } });

      const login = await client.call('POST', `${prefix}/auth/login`, { json: { email, password: PASSWORD } });
      expect(login.status).toBe(200);
      expect(login.body).toEqual({ access_token: expect.any(String), user: signUp.body.user });

      const token = login.body.access_token;
      const mine = await client.call<Record<string, number>>('GET', `${prefix}/auth/me?ignored=1`, { token });
      const { iat = 0, exp = 0 } = mine.body;
      expect([mine.status, mine.body]).toEqual([200, { userId: signUp.body.user.id, email, iat, exp }]);
      expect([iat, exp].every(Number.isSafeInteger)).toBe(true);
      expect(exp - iat).toBe(3_600);

      const logout = await client.call('POST', `${prefix}/auth/logout`, { token });
      expect([logout.status, logout.body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      await eventually(async () => expectError(await me(token, prefix), REFUSED_LOGIN), { timeoutMs: 1_000 });
      expectError(await client.call('POST', `${prefix}/auth/logout`, { token }), REFUSED_LOGIN);
      expect((await me(signUp.body.access_token, prefix)).status).toBe(200);
    });
  });

  describe('sign-up', () => {
    it('responds 409 to an address that is taken, in any case and with surrounding blanks', async () => {
      const { email } = await client.signUp(`Ada.${newEmail()}`);
      const conflict = { status: 409, code: 'CONFLICT', envelope: 'plain' } as const;
      for (const taken of [email, email.toUpperCase(), ` ${email}\t`])
        expectError(await post('signup', person(taken)), conflict);
      expect((await client.logIn(email.toUpperCase())).body.user.email).toBe(email);
    });

    it('ignores unknown fields, and a token', async () => {
      const json = { ...person(), id: 'x', isAdmin: true, email_confirmed_at: null };
      const { status, body } = await post('signup', json, { token: 'nonsense' });
      expect(status).toBe(201);
      expect(body.user).toEqual({ id: UUID, email: json.email, email_confirmed_at: TIME });
    });

    it('accepts a password in any Unicode normalization form', async () => {
      const email = newEmail();
      expect((await post('signup', { ...person(email), password: 'caf\u00e9 au lait' })).status).toBe(201);
      expect((await client.logIn(email, 'cafe\u0301 au lait')).status).toBe(200);
      expect((await client.logIn(email, 'caf\u00e9 au lait ')).status).toBe(401);
    });
  });

  it('a refresh token comes with a session only for "refresh": true, and works once', async () => {
    const account = { ...person(), refresh: true };
    for (const { body } of [await post('signup', account), await post('login', account)]) {
      expect(keysOf(body)).toEqual(['access_token', 'refresh_token', 'user']);
      for (const status of [200, 401])
        expect((await post('refresh', { refresh_token: body.refresh_token })).status).toBe(status);
    }
    for (const refresh of [false, null, 1, 'true', {}])
      expect(keysOf((await post('signup', { ...person(), refresh })).body)).toEqual(['access_token', 'user']);
  });

  it('keeps every response about accounts out of caches', async () => {
    const account = { ...person(), refresh: true };
    const signedUp = await post('signup', account);
    const { access_token: token, refresh_token } = signedUp.body;
    const responses = [
      signedUp,
      await post('login', account),
      await post('login', { ...account, password: 'not the phrase' }),
      await post('refresh', { refresh_token }),
      await me(token),
      await me(),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 401, 200, 200, 401]);
    for (const { headers } of responses) expect(headers.get('cache-control')).toBe('no-store');
  });

  it('a login with an unknown address and one with a wrong password get the same bytes', async () => {
    const { email } = await client.signUp();
    const [wrong, unknown] = [await client.logIn(email, 'not the password'), await client.logIn(newEmail())];
    for (const refused of [wrong, unknown]) expectError(refused, REFUSED_LOGIN);
    expect(wrong.text).toBe(unknown.text);
  });

  describe('logout', () => {
    it('ignores the body', async () => {
      const plain = { raw: 'x', headers: { 'content-type': 'text/plain' } };
      for (const body of [{ raw: '{not json' }, plain, { json: [1] }]) {
        const { token } = await client.signUp();
        expect((await client.call('POST', '/api/auth/logout', { token, ...body })).status).toBe(200);
      }
    });

    it('ends the token for tasks and in GraphQL, and leaves other sessions alone', async () => {
      const { email, token } = await client.signUp();
      const other = (await client.logIn(email)).body.access_token;
      await client.call('POST', '/api/auth/logout', { token });
      const list = async (bearer: string) => (await client.call('GET', '/api/tasks', { token: bearer })).status;
      await eventually(async () => expect(await list(token)).toBe(401), { timeoutMs: 1_000 });
      const errors = async (bearer: string) => (await client.graphql('{ me { id } }', { token: bearer })).body.errors;
      expect(await errors(token)).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
      expect([await list(other), await errors(other)]).toEqual([200, undefined]);
    });
  });

  describe('refreshing', () => {
    const refresh = (refresh_token: unknown) => post('refresh', { refresh_token });

    it('exchanges each refresh token once; a second use ends the session', async () => {
      const first = await openSession(client, (await client.signUp()).email);
      const second = await refresh(first.refreshToken);
      expect(second.status).toBe(200);
      const texts = { access_token: expect.any(String), refresh_token: expect.any(String) };
      expect(second.body).toEqual({ ...texts, expires_in: 3_600 });
      expect(second.body.refresh_token).not.toBe(first.refreshToken);
      expect((await me(second.body.access_token)).status).toBe(200);

      expectError(await refresh(first.refreshToken), REFUSED_LOGIN);
      expectError(await refresh(second.body.refresh_token), REFUSED_LOGIN);
      for (const token of [first.accessToken, second.body.access_token]) await ends(token);
    });

    it('accepts at most one of several simultaneous uses', async () => {
      const { refreshToken } = await openSession(client, (await client.signUp()).email);
      const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await refresh(refreshToken)).status));
      expect([[], [200]]).toContainEqual(statuses.filter((status) => status !== 401));
    });

    it('is refused after a logout, and with anything but a refresh token', async () => {
      const { accessToken, refreshToken } = await openSession(client, (await client.signUp()).email);
      expect((await client.call('POST', '/api/auth/logout', { token: accessToken })).status).toBe(200);
      for (const unusable of [refreshToken, accessToken, 'nonsense'])
        expectError(await refresh(unusable), REFUSED_LOGIN);
    });
  });
}

/** The limit on failed logins, which are counted in Redis, or in memory without Redis. */
export function describeLoginLimit(platform: () => Platform) {
  const client = clientOf(platform);

  describe('login', () => {
    it('is locked after ten failures, even with the right password, for this address only', async () => {
      const { email } = await client.signUp();
      const other = await client.signUp();
      for (let failure = 1; failure <= 10; failure++)
        expect((await client.logIn(email, 'wrong password')).status).toBe(401);
      for (const password of ['wrong password', PASSWORD]) {
        const response = await client.logIn(email, password);
        expectError(response, { status: 429, code: 'RATE_LIMITED', envelope: 'plain' });
        expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(900);
      }
      expect((await client.logIn(email.toUpperCase())).status).toBe(429);
      expect((await client.logIn(other.email)).status).toBe(200);
    });

    it('locks an unknown address in the same way', async () => {
      const email = newEmail();
      const statuses: number[] = [];
      for (let failure = 1; failure <= 11; failure++) statuses.push((await client.logIn(email)).status);
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    });
  });
}

const LOGIN = 'mutation ($input: LoginInput!) { login(input: $input) { accessToken refreshToken } }';

/** Opens a session with a refresh token, over GraphQL. */
export async function openSession(client: Client, email: string) {
  const variables = { input: { email, password: PASSWORD } };
  const { body } = await client.graphql<{ login: Record<'accessToken' | 'refreshToken', string> }>(LOGIN, {
    variables,
  });
  return body.data.login;
}

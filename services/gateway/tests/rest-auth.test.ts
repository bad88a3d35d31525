import { rateLimited, unavailable } from '@taskmesh/contracts';
import { RESET_TOKEN } from './rest-fakes/auth.ts';
import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, PASSWORD, type Client } from './rest-fakes/client.ts';

let rest: RestApp;
let client: Client;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
});
afterAll(() => rest.stop());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UTC_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe.each(['/api', '/full/api', '/reduced/api'])('accounts below %s', (prefix) => {
  let count = 0;
  const fresh = () => `ada-${prefix.replaceAll('/', '-')}-${++count}@example.com`;
  const post = (path: string, json: unknown, token?: string) =>
    client.call('POST', `${prefix}${path}`, { json, ...(token !== undefined && { token }) });

  it('signs up with 201 and exactly a token and the user', async () => {
    const email = fresh();
    const { status, body } = await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    expect(status).toBe(201);
    expect(body).toEqual({
      access_token: expect.any(String),
      user: { id: expect.stringMatching(UUID), email, email_confirmed_at: expect.stringMatching(UTC_MS) },
    });
  });

  it('answers 409 when the address has an account, whatever its case', async () => {
    const email = fresh();
    await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    const { status, body } = await post('/auth/signup', {
      email: ` ${email.toUpperCase()} `,
      password: PASSWORD,
      name: 'A',
    });
    expect(status).toBe(409);
    expect(body).toEqual({ message: expect.any(String), error: { code: 'CONFLICT' } });
  });

  it('logs in with 200 and the same shape, and makes no refresh token', async () => {
    const email = fresh();
    const before = rest.auth.refreshTokensSelected();
    await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    const { status, body } = await post('/auth/login', { email, password: PASSWORD });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['access_token', 'user']);
    expect(Object.keys(body.user)).toEqual(['id', 'email', 'email_confirmed_at']);
    expect(rest.auth.refreshTokensSelected()).toBe(before);
  });

  it('keeps every answer out of caches, a token least of all', async () => {
    const account = { email: fresh(), password: PASSWORD, name: 'Ada', refresh: true };
    const signedUp = await post('/auth/signup', account);
    const { access_token: token, refresh_token } = signedUp.body;
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const answers = [
      signedUp,
      await post('/auth/login', account),
      await post('/auth/login', { ...account, password: 'not the phrase' }),
      await post('/auth/refresh', { refresh_token }),
      await post('/auth/tokens', { name: 'A program', scope: 'read', expires_at }, token),
      await client.call('GET', `${prefix}/auth/me`, { token }),
      await client.call('GET', `${prefix}/auth/me`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 401, 200, 201, 200, 401]);
    for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
  });

  it('gives a refresh token to who asks for it, which works once', async () => {
    const email = fresh();
    const signedUp = await post('/auth/signup', { email, password: PASSWORD, name: 'Ada', refresh: true });
    const loggedIn = await post('/auth/login', { email, password: PASSWORD, refresh: true });
    for (const { body } of [signedUp, loggedIn]) {
      expect(Object.keys(body)).toEqual(['access_token', 'refresh_token', 'user']);
      const json = { refresh_token: body.refresh_token };
      expect((await post('/auth/refresh', json)).status).toBe(200);
      expect((await post('/auth/refresh', json)).status).toBe(401);
    }
  });

  it.each([false, null, 1, 'true', {}])('gives no refresh token for "refresh": %j', async (refresh) => {
    const email = fresh();
    const { status, body } = await post('/auth/signup', { email, password: PASSWORD, name: 'Ada', refresh });
    expect([status, Object.keys(body)]).toEqual([201, ['access_token', 'user']]);
  });

  it('answers an unknown address and a wrong password with the same 401', async () => {
    const email = fresh();
    await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    const wrong = await post('/auth/login', { email, password: 'not the phrase' });
    const unknown = await post('/auth/login', { email: fresh(), password: PASSWORD });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.body).toEqual(wrong.body);
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('tells the claims of the token, exactly four', async () => {
    const email = fresh();
    const session = (await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' })).body;
    const { status, body } = await client.call('GET', `${prefix}/auth/me?more=1`, { token: session.access_token });
    expect(status).toBe(200);
    expect(body).toEqual({ userId: session.user.id, email, iat: expect.any(Number), exp: body.iat + 3_600 });
  });

  it('logs out with a message, and the token counts no more', async () => {
    const { access_token: token } = (await post('/auth/signup', { email: fresh(), password: PASSWORD, name: 'Ada' }))
      .body;
    const out = await client.call('POST', `${prefix}/auth/logout`, { token });
    expect(out.status).toBe(200);
    expect(out.body).toEqual({ message: expect.any(String) });
    expect((await client.call('GET', `${prefix}/auth/me`, { token })).status).toBe(401);
    expect((await client.call('POST', `${prefix}/auth/logout`, { token })).status).toBe(401);
  });

  it('ends only the session that logs out', async () => {
    const email = fresh();
    const first = (await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' })).body;
    const second = (await post('/auth/login', { email, password: PASSWORD })).body;
    await client.call('POST', `${prefix}/auth/logout`, { token: first.access_token });
    expect((await client.call('GET', `${prefix}/auth/me`, { token: second.access_token })).status).toBe(200);
  });

  it('answers forgot-password alike for known and unknown addresses, and mails the known one only', async () => {
    const email = fresh();
    await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    const known = await post('/auth/forgot-password', { email });
    const unknown = await post('/auth/forgot-password', { email: fresh() });
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(known.body).toEqual({ message: expect.any(String) });
    expect(unknown.body).toEqual(known.body);
    expect(rest.auth.mails.filter((mail) => mail.includes(prefix.replaceAll('/', '-')))).toEqual([email]);
  });

  it('resets the password with the token of the mail, and ends the sessions', async () => {
    const { access_token: token } = (await post('/auth/signup', { email: fresh(), password: PASSWORD, name: 'Ada' }))
      .body;
    const { status, body } = await post('/auth/reset-password', { token: RESET_TOKEN, password: 'another phrase' });
    expect(status).toBe(200);
    expect(body).toEqual({ message: expect.any(String) });
    expect((await client.call('GET', `${prefix}/auth/me`, { token })).status).toBe(401);
  });

  it.each([
    [{ token: 'nonsense', password: 'another phrase' }, 'token'],
    [{ token: RESET_TOKEN, password: 'short' }, 'password'],
    [{ password: 'another phrase' }, 'token'],
    [{ token: '', password: 'another phrase' }, 'token'],
    [{ token: RESET_TOKEN }, 'password'],
    [{ token: 5, password: 'another phrase' }, 'token'],
  ])('refuses to reset with %j: 400 that names %s', async (json, field) => {
    const { status, body } = await post('/auth/reset-password', json);
    expect(status).toBe(400);
    expect(body).toEqual({
      message: expect.any(String),
      error: { code: 'BAD_USER_INPUT', details: [{ path: field, message: expect.any(String) }] },
    });
  });

  it('trades a refresh token once', async () => {
    const email = fresh();
    await post('/auth/signup', { email, password: PASSWORD, name: 'Ada' });
    const json = { refresh_token: rest.auth.refreshTokenFor(email) };
    const { status, body } = await post('/auth/refresh', json);
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), expires_in: 3_600 });
    const again = await post('/auth/refresh', json);
    expect(again.status).toBe(401);
    expect(again.body.error).toEqual({ code: 'UNAUTHENTICATED' });
  });

  it.each([{}, { refresh_token: null }, { refresh_token: 5 }, { refresh_token: '' }, { refresh_token: 'x\0y' }])(
    'refuses to refresh with %j: 400',
    async (json) => {
      const { status, body } = await post('/auth/refresh', json);
      expect(status).toBe(400);
      expect(body.error.details).toEqual([{ path: 'refresh_token', message: expect.any(String) }]);
    },
  );
});

describe('failures of the auth service', () => {
  const json = { email: 'grace@example.com', password: PASSWORD, name: 'Grace' };

  it('become 429 with Retry-After when they are limits', async () => {
    rest.auth.failNext(rateLimited(42));
    const { status, body, headers } = await client.call('POST', '/api/auth/login', { json });
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('42');
    expect(body).toEqual({ message: expect.any(String), error: { code: 'RATE_LIMITED' } });
  });

  it('become 503 with Retry-After and the id of the request when it is away', async () => {
    rest.auth.failNext(unavailable(undefined, new Error('connect ECONNREFUSED 10.0.0.7:5432')));
    const { status, body, headers, text } = await client.call('POST', '/api/auth/signup', { json });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body.error).toEqual({ code: 'SERVICE_UNAVAILABLE', requestId: headers.get('x-request-id') });
    expect(text).not.toContain('10.0.0.7');
  });

  it('become 500 with nothing but the id of the request when they are defects', async () => {
    rest.auth.failNext(new TypeError('relation "accounts" does not exist'));
    const { status, body, headers } = await client.call('POST', '/api/auth/login', { json });
    expect(status).toBe(500);
    expect(body).toEqual({
      message: expect.stringMatching(/^Internal server error\.?$/),
      error: { code: 'INTERNAL_SERVER_ERROR', requestId: headers.get('x-request-id') },
    });
  });
});

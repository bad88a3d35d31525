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

const NEW_PASSWORD = 'another long and winding phrase';
const UTC_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe.each(['/api', '/full/api', '/reduced/api'])('changes of an account below %s', (prefix) => {
  const post = (path: string, json: unknown, token?: string) =>
    client.call('POST', `${prefix}${path}`, { json, ...(token !== undefined && { token }) });

  it('shows who you are, and changes the name', async () => {
    const { token, email, userId } = await client.signUp();
    const profile = { id: userId, email, name: 'Person', email_confirmed_at: expect.stringMatching(UTC_MS) };
    expect((await client.call('GET', `${prefix}/auth/profile`, { token })).body).toEqual(profile);
    const { status, body } = await client.call('PATCH', `${prefix}/auth/profile`, { token, json: { name: ' Ada ' } });
    expect([status, body]).toEqual([200, { ...profile, name: 'Ada' }]);
    const refused = await client.call('PATCH', `${prefix}/auth/profile`, { token, json: { name: ' ' } });
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [{ path: 'name', message: 'name must have 1 to 255 characters.' }],
    ]);
  });

  it('sets a new password, which ends all other sessions', async () => {
    const { token, email } = await client.signUp();
    const other = (await post('/auth/login', { email, password: PASSWORD })).body.access_token;
    const answer = await post('/auth/change-password', { current_password: PASSWORD, password: NEW_PASSWORD }, token);
    expect([answer.status, answer.body]).toEqual([200, { message: expect.any(String) }]);
    const statusOf = async (each: string) => (await client.call('GET', `${prefix}/auth/me`, { token: each })).status;
    expect([await statusOf(token), await statusOf(other)]).toEqual([200, 401]);
    expect((await post('/auth/login', { email, password: PASSWORD })).status).toBe(401);
    expect((await post('/auth/login', { email, password: NEW_PASSWORD })).status).toBe(200);
  });

  it('calls each field as the client does', async () => {
    const { token } = await client.signUp();
    const pathOf = async (path: string, json: object) => {
      const { status, body } = await post(path, json, token);
      return [status, body.error.details?.[0]?.path];
    };
    const change = { current_password: PASSWORD, password: NEW_PASSWORD };
    expect(await pathOf('/auth/change-password', { ...change, current_password: 'x' })).toEqual([
      400,
      'current_password',
    ]);
    expect(await pathOf('/auth/change-password', { ...change, password: 'x' })).toEqual([400, 'password']);
    expect(await pathOf('/auth/change-password', { password: NEW_PASSWORD })).toEqual([400, 'current_password']);
    expect(await pathOf('/auth/change-email', { email: 'b@example.com', password: 'x' })).toEqual([400, 'password']);
    expect(await pathOf('/auth/change-email', { email: 'nobody', password: PASSWORD })).toEqual([400, 'email']);
    expect(await pathOf('/auth/confirm-email', { token: 'x' })).toEqual([400, 'token']);
  });

  it('changes the address in two steps, the second of which needs the session or the password', async () => {
    const { token } = await client.signUp();
    const { body: personal } = await client.call('POST', `${prefix}/auth/tokens`, {
      token,
      json: { name: 'program', scope: 'write', expires_at: '2099-01-01T00:00:00Z' },
    });
    expect((await post('/auth/change-email', { email: 'b@example.com', password: PASSWORD }, token)).status).toBe(200);
    const confirm = async (json: object, bearer?: string) => {
      const { status, body } = await post('/auth/confirm-email', { token: RESET_TOKEN, ...json }, bearer);
      return [status, body.error?.code, body.error?.details?.[0]?.path];
    };
    for (const json of [{}, { password: '' }, { password: null }])
      expect(await confirm(json)).toEqual([401, 'UNAUTHENTICATED', undefined]);
    expect(await confirm({}, 'stale')).toEqual([401, 'UNAUTHENTICATED', undefined]);
    expect(await confirm({}, personal.token)).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await confirm({ password: 'x' })).toEqual([400, 'BAD_USER_INPUT', 'password']);
    expect(await confirm({ password: 1 })).toEqual([400, 'BAD_USER_INPUT', 'password']);
    expect(await confirm({ password: PASSWORD })).toEqual([200, undefined, undefined]);
    expect(await confirm({ password: PASSWORD }, 'stale')).toEqual([200, undefined, undefined]);
    expect(await confirm({ password: PASSWORD }, personal.token)).toEqual([200, undefined, undefined]);
    expect(await confirm({}, token)).toEqual([200, undefined, undefined]);
  });

  it('deletes the account of who knows its password, and ends all of its sessions', async () => {
    const { token, email } = await client.signUp();
    const other = (await post('/auth/login', { email, password: PASSWORD })).body.access_token;
    const del = (json?: object) => client.call('DELETE', `${prefix}/auth/profile`, { token, ...(json && { json }) });
    const refused = await del({ password: 'x' });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'password']);
    expect([(await del()).status, (await del({})).status]).toEqual([400, 400]);
    expect((await client.call('GET', `${prefix}/auth/me`, { token })).status).toBe(200);
    const { status, body } = await del({ password: PASSWORD });
    expect([status, body]).toEqual([200, { message: expect.any(String) }]);
    const statusOf = async (each: string) => (await client.call('GET', `${prefix}/auth/me`, { token: each })).status;
    expect([await statusOf(token), await statusOf(other)]).toEqual([401, 401]);
    expect((await post('/auth/login', { email, password: PASSWORD })).status).toBe(401);
    expect((await post('/auth/signup', { email, password: PASSWORD, name: 'Again' })).status).toBe(201);
  });

  it.each([
    ['DELETE', '/auth/profile'],
    ['GET', '/auth/profile'],
    ['PATCH', '/auth/profile'],
    ['POST', '/auth/change-password'],
    ['POST', '/auth/change-email'],
  ])('needs a token for %s %s', async (method, path) => {
    expect((await client.call(method, `${prefix}${path}`, method === 'GET' ? {} : { json: {} })).status).toBe(401);
  });
});

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

const logIn = async (email: string, headers: Record<string, string> = {}): Promise<string> =>
  (await client.call('POST', '/api/auth/login', { json: { email, password: PASSWORD }, headers })).body.access_token;
const statusOf = async (token: string) => (await client.call('GET', '/api/auth/me', { token })).status;

describe.each(['/api', '/full/api', '/reduced/api'])('sessions below %s', (prefix) => {
  const sessionsOf = (token: string) => client.call('GET', `${prefix}/auth/sessions`, { token });

  it('are listed with when, from where and by which program, as far as it tells', async () => {
    const { token, email } = await client.signUp();
    await logIn(email, { 'user-agent': `Phone/2 ${'x'.repeat(300)}` });
    const { status, body } = await sessionsOf(token);
    expect([status, Object.keys(body)]).toEqual([200, ['sessions']]);
    const [own, phone, ...more] = body.sessions.toSorted((one: { current: boolean }) => (one.current ? -1 : 1));
    const times = { created_at: expect.stringMatching(UTC_MS), last_used_at: expect.stringMatching(UTC_MS) };
    expect([own, more]).toEqual([
      { id: expect.stringMatching(UUID), ...times, ip: '127.0.0.1', client: 'node', current: true },
      [],
    ]);
    expect(phone).toMatchObject({ current: false, client: `Phone/2 ${'x'.repeat(247)}` });
  });

  it('end one at a time, whose token counts no more', async () => {
    const { token, email } = await client.signUp();
    const other = await logIn(email);
    const { id } = (await sessionsOf(other)).body.sessions.find(({ current }: { current: boolean }) => current);
    const ended = await client.call('DELETE', `${prefix}/auth/sessions/${id}`, { token });
    expect([ended.status, ended.body]).toEqual([200, { message: expect.any(String) }]);
    expect([await statusOf(token), await statusOf(other)]).toEqual([200, 401]);
    expect((await client.call('DELETE', `${prefix}/auth/sessions/${id}`, { token })).status).toBe(404);
  });

  it('end all but the one that asks', async () => {
    const { token, email } = await client.signUp();
    const others = [await logIn(email), await logIn(email)];
    const bob = await client.signUp();
    expect((await client.call('DELETE', `${prefix}/auth/sessions`, { token })).status).toBe(200);
    expect(await Promise.all([token, bob.token, ...others].map(statusOf))).toEqual([200, 200, 401, 401]);
  });

  it("answer 404 for somebody else's as for one that is not there, and 401 without a token", async () => {
    const [ada, bob] = [await client.signUp(), await client.signUp()];
    const { id } = (await sessionsOf(bob.token)).body.sessions[0];
    const foreign = await client.call('DELETE', `${prefix}/auth/sessions/${id}`, { token: ada.token });
    const none = await client.call('DELETE', `${prefix}/auth/sessions/nonsense`, { token: ada.token });
    expect([foreign.status, foreign.body]).toEqual([404, none.body]);
    expect(await statusOf(bob.token)).toBe(200);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['DELETE', `/${id}`],
    ] as const)
      // prettier-ignore
      expect((await client.call(method, `${prefix}/auth/sessions${path}`)).status).toBe(401);
  });
});

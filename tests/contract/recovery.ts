import { eventually } from '@taskmesh/testing';
import { linkIn, mailsTo } from '../mails.ts';
import { openSession } from './accounts.ts';
import { newEmail, PASSWORD } from '../http.ts';
import { clientOf, type Platform } from './client.ts';
import { expectError } from './shapes.ts';

const INVALID = { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' } as const;
const NEW_PASSWORD = 'another long and winding phrase';

/** Returns the token, which stands alone on a line and at the end of the link. */
export function tokenIn(mail: string, origin: string, page = 'reset-password'): string {
  const link = linkIn(mail, page);
  expect(link?.origin).toBe(origin);
  const token = link?.token ?? '';
  expect(token.length).toBeGreaterThanOrEqual(32);
  expect(mail.split(/\r?\n/)).toContain(token);
  return token;
}

/** Waits for a mail to an address, and returns its token. */
export const mailedToken = (platform: Platform, email: string, page: string) =>
  eventually(() => tokenIn(mailsTo(platform.dataDir, email).at(-1) ?? '', platform.publicUrl, page));

/** A forgotten password, from the mail to the end of all sessions. */
export function describeRecovery(platform: () => Platform) {
  const client = clientOf(platform);
  const mails = (email: string) => mailsTo(platform().dataDir, email);
  const forgot = (json: unknown) => client.call('POST', '/api/auth/forgot-password', { json });
  const reset = (token: unknown, password: unknown) =>
    client.call('POST', '/api/auth/reset-password', { json: { token, password } });

  const requestToken = async (email: string) => {
    const before = mails(email).length;
    expect((await forgot({ email })).status).toBe(200);
    return eventually(() => tokenIn(mails(email)[before] ?? '', platform().publicUrl));
  };

  describe('a forgotten password', () => {
    it('gets the same response for known and unknown addresses; only the known one gets a mail', async () => {
      const { email } = await client.signUp();
      const stranger = newEmail();
      const unknown = await forgot({ email: stranger });
      const known = await forgot({ email });
      expect([known.status, known.body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      expect([unknown.status, unknown.text]).toEqual([200, known.text]);
      await eventually(() => expect(mails(email)).toHaveLength(1));
      expect(mails(stranger)).toEqual([]);
    });

    it('is reset with the token from the mail, once, which ends all sessions', async () => {
      const { email, token: firstToken } = await client.signUp();
      const second = await openSession(client, email);
      const token = await requestToken(email);

      const refused = await reset(token, 'short');
      expectError(refused, INVALID);
      expect(refused.body.error.details?.map(({ path }) => path)).toEqual(['password']);
      expect((await client.call('GET', '/api/auth/me', { token: firstToken })).status).toBe(200);

      const done = await reset(token, NEW_PASSWORD);
      expect([done.status, done.body]).toEqual([200, { message: expect.stringMatching(/\S/) }]);
      const me = async (token: string) => (await client.call('GET', '/api/auth/me', { token })).status;
      for (const ended of [firstToken, second.accessToken])
        await eventually(async () => expect(await me(ended)).toBe(401), { timeoutMs: 1_000 });
      const json = { refresh_token: second.refreshToken };
      expect((await client.call('POST', '/api/auth/refresh', { json })).status).toBe(401);
      expect((await client.logIn(email, PASSWORD)).status).toBe(401);
      expect((await client.logIn(email, NEW_PASSWORD)).status).toBe(200);

      expectError(await reset(token, `${NEW_PASSWORD} again`), INVALID);
      expect((await client.logIn(email, NEW_PASSWORD)).status).toBe(200);
    });

    it('causes at most five mails in an hour, without showing it in the response', async () => {
      const { email } = await client.signUp();
      const other = await client.signUp();
      const responses = [];
      for (let count = 1; count <= 7; count++) responses.push(await forgot({ email }));
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(responses[0]?.status).toBe(200);
      await eventually(() => expect(mails(email)).toHaveLength(5));
      // Mails are sent in order, so a sixth would be there before this later one.
      await requestToken(other.email);
      expect(mails(email)).toHaveLength(5);
    });
  });
}

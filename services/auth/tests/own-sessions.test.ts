import type { Identity } from '@taskmesh/identity';
import { randomUUID } from 'node:crypto';
import type { OwnSession } from '../src/sessions/session.repository.ts';
import {
  codeOf,
  END_SESSION,
  loggedIn,
  LOGIN,
  LOGIN_PLAIN,
  REFRESH,
  SESSIONS,
  signedUp,
  type OpenSession,
} from './support/operations.ts';
import { PASSWORD, runAuth, type RunningAuth } from './support/running-auth.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let running: RunningAuth;
beforeAll(async () => {
  running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
});
beforeEach(() => running.reset());
afterAll(() => running.stop());

const sessionsOf = async ({ identity }: OpenSession) =>
  (await running.send(SESSIONS, {}, identity)).data?.['sessions'] as OwnSession[];
const endedIds = async () => (await running.auth.internal.endedSessions(0)).sessions.map(({ sessionId }) => sessionId);
const auditOf = (accountId: string) =>
  running.database.query(
    `select kind, session_id as id from audit_log where account_id = $1 and kind = 'session.ended' order by id`,
    [accountId],
  );

describe('the list of your sessions', () => {
  it('says when each began, from where and by which program, newest first, and which one asks', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    running.clock.advance(MINUTE_MS);
    const phone: Identity = { role: 'anonymous', ip: '198.51.100.9', client: 'Phone/2' };
    await running.send(LOGIN, { input: { email: 'ada@example.com', password: PASSWORD } }, phone);
    const [second, first, ...more] = await sessionsOf(ada);
    expect(more).toEqual([]);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(first).toEqual({
      ...{ id: ada.sessionId, createdAt: time, lastUsedAt: first?.createdAt },
      ...{ ip: '192.0.2.1', client: null, current: true },
    });
    expect(second).toMatchObject({ ip: '198.51.100.9', client: 'Phone/2', current: false });
    expect(Date.parse(second?.createdAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.createdAt ?? '') + MINUTE_MS);
  });

  it('shows who refreshed a session last', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    running.clock.advance(HOUR_MS);
    const tablet: Identity = { role: 'anonymous', ip: '203.0.113.4', client: 'Tablet/1' };
    await running.send(REFRESH, { token: ada.refreshToken }, tablet);
    const [session] = await sessionsOf(ada);
    expect(session).toMatchObject({ ip: '203.0.113.4', client: 'Tablet/1' });
    expect(Date.parse(session?.lastUsedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(session?.createdAt ?? '') + HOUR_MS,
    );
  });

  it('takes uses from gateways, to the minute, never back, and only of what lives', async () => {
    const [ada, other] = [await signedUp(running, 'ada@example.com'), await loggedIn(running, 'ada@example.com')];
    const begun = running.clock.now();
    const lastUse = async () => {
      const session = (await sessionsOf(ada)).find(({ id }) => id === ada.sessionId);
      return Date.parse(session?.lastUsedAt ?? '') - begun;
    };
    const note = (after: number) =>
      running.auth.internal.noteSessionUses([
        { sessionId: ada.sessionId, at: begun + after },
        { sessionId: randomUUID(), at: begun + after },
      ]);
    await note(30_000);
    expect(await lastUse()).toBeLessThanOrEqual(0);
    for (const [given, shown] of [
      [5 * MINUTE_MS, 5 * MINUTE_MS],
      [3 * MINUTE_MS, 5 * MINUTE_MS],
      [5.5 * MINUTE_MS, 5 * MINUTE_MS],
      [6 * MINUTE_MS, 6 * MINUTE_MS],
    ] as const) {
      // prettier-ignore
      await note(given);
      expect(await lastUse()).toBe(shown);
    }
    await running.send(END_SESSION, { id: other.sessionId }, ada.identity);
    await running.auth.internal.noteSessionUses([{ sessionId: other.sessionId, at: begun + HOUR_MS }]);
    expect(await running.database.query('select last_used_at from sessions where id = $1', [other.sessionId])).toEqual([
      { last_used_at: null },
    ]);
  });

  it('does not wait for one who is changing a session right now', async () => {
    const [ada, bob] = [await signedUp(running, 'ada@example.com'), await signedUp(running, 'bob@example.com')];
    const at = running.clock.now() + HOUR_MS;
    const sessions = [ada, bob].map(({ sessionId }) => ({ sessionId, at }));
    const uses = Array.from({ length: 20 }, (_, turn) =>
      running.auth.internal.noteSessionUses(
        (turn % 2 === 0 ? sessions : sessions.toReversed()).map((use) => ({ ...use, at: at + turn * HOUR_MS })),
      ),
    );
    await expect(Promise.all(uses)).resolves.toHaveLength(20);
  });

  it("shows nothing of anybody else's, of no one, and of what is over", async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const bob = await signedUp(running, 'bob@example.com');
    expect((await sessionsOf(bob)).map(({ id }) => id)).toEqual([bob.sessionId]);
    expect(codeOf(await running.send(SESSIONS))).toBe('UNAUTHENTICATED');
    await running.send(LOGIN_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD } });
    expect(await sessionsOf(ada)).toHaveLength(2);
    running.clock.advance(HOUR_MS + 1_000);
    expect((await sessionsOf(ada)).map(({ id }) => id)).toEqual([ada.sessionId]);
  });
});

describe('ending one of your sessions', () => {
  it('ends it and no other, notifies the gateway, and is in the audit trail', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const other = await loggedIn(running, 'ada@example.com');
    const result = await running.send(END_SESSION, { id: other.sessionId.toUpperCase() }, ada.identity);
    expect(result.data).toEqual({ endSession: other.sessionId });
    expect(result.extensions).toEqual({
      endedSessions: [{ sequence: 1, sessionId: other.sessionId, until: expect.any(Number) }],
    });
    expect(await endedIds()).toEqual([other.sessionId]);
    expect((await sessionsOf(ada)).map(({ id }) => id)).toEqual([ada.sessionId]);
    expect(codeOf(await running.send(REFRESH, { token: other.refreshToken }))).toBe('UNAUTHENTICATED');
    expect(await auditOf(ada.userId)).toEqual([{ kind: 'session.ended', id: other.sessionId }]);
  });

  it('does not find one that has expired', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const plain = await running.send(LOGIN_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD } });
    const { sessionId } = plain.extensions?.['session'] as { sessionId: string };
    running.clock.advance(HOUR_MS + 1_000);
    expect(codeOf(await running.send(END_SESSION, { id: sessionId }, ada.identity))).toBe('NOT_FOUND');
  });
});

import type { Identity } from '@taskmesh/identity';
import { randomUUID } from 'node:crypto';
import type { OwnSession } from '../src/sessions/session.repository.ts';
import {
  codeOf,
  END_SESSION,
  loggedIn,
  LOGIN_PLAIN,
  REFRESH,
  SESSIONS,
  signedUp,
  type OpenSession,
} from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const running = useAuth();

const sessionsOf = async ({ identity }: OpenSession) =>
  (await running.send(SESSIONS, {}, identity)).data?.['sessions'] as OwnSession[];

describe('the list of your sessions', () => {
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
    expect((await sessionsOf(ada)).map(({ current }) => current)).toEqual([false, true]); // the newest first
    running.clock.advance(HOUR_MS + 1_000);
    expect((await sessionsOf(ada)).map(({ id }) => id)).toEqual([ada.sessionId]);
  });
});

describe('ending one of your sessions', () => {
  it('does not find one that has expired', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const plain = await running.send(LOGIN_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD } });
    const { sessionId } = plain.extensions?.['session'] as { sessionId: string };
    running.clock.advance(HOUR_MS + 1_000);
    expect(codeOf(await running.send(END_SESSION, { id: sessionId }, ada.identity))).toBe('NOT_FOUND');
  });
});

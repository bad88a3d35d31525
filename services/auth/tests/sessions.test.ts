import { decodeJwt } from 'jose';
import { randomUUID } from 'node:crypto';
import { createOpaqueToken } from '../src/opaque-token.ts';
import type { OwnSession } from '../src/sessions/session.repository.ts';
import * as operations from './support/operations.ts';
import { codeOf, outcomesOf, sessionOf, tokenOf, type NewToken, type OpenSession } from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';
import { hashPersonalToken } from '@taskmesh/identity';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const running = useAuth();

const expOf = (accessToken: string) => decodeJwt(accessToken).exp;
const endedIds = async (after = 0) =>
  (await running.auth.internal.endedSessions(after)).sessions.map(({ sessionId }) => sessionId);

it('a refresh whose caller has stopped waiting changes nothing, so that it can be retried', async () => {
  const { refreshToken, sessionId } = await running.signUp('ada@example.com');
  let looks = 0;
  const call = { identity: { role: 'anonymous' }, requestId: 'request-1', isCancelled: () => looks++ > 0 } as const;
  const request = { query: operations.REFRESH, variables: { token: refreshToken } };
  expect(codeOf(await running.auth.subgraph.execute(request, call))).toBe('SERVICE_UNAVAILABLE');
  expect(sessionOf(await running.refresh(refreshToken), 'refreshSession').sessionId).toBe(sessionId);
});

it('logging out ends this session, and lists it until the second in which its token expires', async () => {
  const { identity, sessionId, accessToken } = await running.signUp('a@example.com');
  expect(await running.auth.internal.endedSessions(0)).toEqual({ last: 0, sessions: [] });
  const result = await running.logOut(identity);
  expect(result.data).toEqual({ logout: true });
  const entry = { sequence: 1, sessionId, until: expOf(accessToken) };
  expect(result.extensions).toEqual({ endedSessions: [entry] });
  expect(await running.auth.internal.endedSessions(0)).toEqual({ last: 1, sessions: [entry] });
  expect(await running.auth.internal.endedSessions(1)).toEqual({ last: 1, sessions: [] });
});

it("logging out does not end another user's session", async () => {
  const ada = await running.signUp('ada@example.com');
  const bob = await running.signUp('bob@example.com');
  const forged = { role: 'user', userId: ada.userId, sessionId: bob.sessionId } as const;
  expect(codeOf(await running.logOut(forged))).toBe('UNAUTHENTICATED');
  expect(await endedIds()).toEqual([]);
});

describe('the list of ended sessions', () => {
  it('has a gapless sequence in commit order for a polling reader', async () => {
    const sessions = [await running.signUp('a@example.com')];
    while (sessions.length < 12) sessions.push(await running.logIn('a@example.com'));
    const seen: number[] = [];
    let done = false;
    const reader = (async () => {
      for (let after = 0, finishing = false; !finishing;) {
        finishing = done;
        const { last, sessions: news } = await running.auth.internal.endedSessions(after);
        seen.push(...news.map(({ sequence }) => sequence));
        after = last;
      }
    })();
    await Promise.all(sessions.map(({ identity }) => running.logOut(identity)));
    done = true;
    await reader;
    expect(seen).toEqual(sessions.map((_session, index) => index + 1));
  });

  it('is returned in pages of 10,000, the last of which ends with the head', async () => {
    const many = `select n, gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 10003) n`;
    await running.query(`insert into ended_sessions ${many}; update ended_session_counter set last = 10003`);
    const first = await running.auth.internal.endedSessions(0);
    expect([first.last, first.sessions.length]).toEqual([10_000, 10_000]);
    const second = await running.auth.internal.endedSessions(first.last);
    expect([second.last, second.sessions.map(({ sequence }) => sequence)]).toEqual([10_003, [10_001, 10_002, 10_003]]);
  });

  it('keeps a session until 90 s after its last token, as channels accept it for 60 s and clocks differ by 30 s, and the sequence continues', async () => {
    const { identity, sessionId } = await running.signUp('a@example.com');
    await running.logOut(identity);
    running.clock.advance(HOUR_MS + 80_000);
    await running.auth.processAll();
    expect(await endedIds()).toEqual([sessionId]);
    running.clock.advance(11_000);
    expect(await running.auth.internal.endedSessions(0)).toEqual({ last: 1, sessions: [] });
    await running.auth.processAll();
    expect(await running.query('select 1 from ended_sessions')).toEqual([]);
    await running.logOut((await running.logIn('a@example.com')).identity);
    expect((await running.auth.internal.endedSessions(1)).sessions).toMatchObject([{ sequence: 2 }]);
  });

  it('includes a session that ends when its last token has just expired, but none later', async () => {
    const [just, long] = [await running.signUp('a@example.com'), await running.signUp('b@example.com')];
    running.clock.advance(HOUR_MS + 80_000);
    await running.logOut(just.identity);
    expect(await endedIds()).toEqual([just.sessionId]);
    const { identity } = long;
    running.clock.advance(11_000);
    expect((await running.logOut(identity)).extensions).toBeUndefined();
    expect(await endedIds()).toEqual([]);
  });
});

describe('refreshing a session', () => {
  it('keeps an ended session in the list until the newest access token expires', async () => {
    const { identity, refreshToken } = await running.signUp('a@example.com');
    running.clock.advance(HOUR_MS / 2);
    const { accessToken } = sessionOf(await running.refresh(refreshToken), 'refreshSession');
    await running.logOut(identity);
    expect((await running.auth.internal.endedSessions(0)).sessions[0]?.until).toBe(expOf(accessToken));
  });

  it('without a new refresh token leaves it active no longer than its access token', async () => {
    const { refreshToken } = await running.signUp('a@example.com');
    const { identity } = await running.logIn('a@example.com');
    const query = 'mutation ($token: String!) { refreshSession(refreshToken: $token) { accessToken } }';
    expect(codeOf(await running.send(query, { token: refreshToken }))).toBeUndefined();
    const listed = async () => (await running.send('{ sessions { id } }', {}, identity)).data?.sessions;
    expect(await listed()).toHaveLength(2);
    running.clock.advance(HOUR_MS + 1_000);
    expect(await listed()).toHaveLength(1);
  });

  it('ends nothing for a token that was never issued, even if parts of it were', async () => {
    for (const token of ['', '\0', '\ud800', 'x'.repeat(100_000)])
      expect(codeOf(await running.refresh(token))).toBe('UNAUTHENTICATED');
    const { refreshToken: used } = await running.signUp('a@example.com');
    let { refreshToken: unused } = sessionOf(await running.refresh(used), 'refreshSession');
    for (const token of [used, unused]) {
      const other = token.endsWith('A') ? 'B' : 'A';
      const forged = [token.slice(0, -1), `${token}A`, token.slice(0, 16), `${token.slice(0, -1)}${other}`];
      forged.push(`${token.slice(0, 16)}${createOpaqueToken().token}`, `${token.slice(0, 16)}${'A'.repeat(48)}`);
      for (const each of forged) expect(codeOf(await running.refresh(each))).toBe('UNAUTHENTICATED');
      expect(await endedIds()).toEqual([]);
      unused = sessionOf(await running.refresh(unused), 'refreshSession').refreshToken;
    }
    expect(codeOf(await running.refresh(used))).toBe('UNAUTHENTICATED');
    expect(await endedIds()).toHaveLength(1);
  });

  it('rejects an expired token, and expired rows are deleted', async () => {
    const { refreshToken } = await running.signUp('a@example.com');
    running.clock.advance(30 * 24 * HOUR_MS + 1_000);
    expect(codeOf(await running.refresh(refreshToken))).toBe('UNAUTHENTICATED');
    await running.auth.processAll();
    expect(await running.query('select 1 from sessions')).toEqual([]);
    expect(await running.query('select 1 from refresh_tokens')).toEqual([]);
  });
});

const sessionsOf = async ({ identity }: OpenSession) =>
  (await running.send(operations.SESSIONS, {}, identity)).data?.['sessions'] as OwnSession[];

describe("the list of the caller's sessions", () => {
  it('records uses from gateways, to the minute, never backwards, and only for active sessions', async () => {
    const [ada, other] = [await running.signUp('ada@example.com'), await running.logIn('ada@example.com')];
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
    const shown = [];
    for (const minutes of [5, 3, 5.5, 6]) {
      await note(minutes * MINUTE_MS);
      shown.push((await lastUse()) / MINUTE_MS);
    }
    expect(shown).toEqual([5, 5, 5, 6]);
    await running.send(operations.END_SESSION, { id: other.sessionId }, ada.identity);
    await running.auth.internal.noteSessionUses([{ sessionId: other.sessionId, at: begun + HOUR_MS }]);
    const [ended] = await running.query('select last_used_at from sessions where id = $1', [other.sessionId]);
    expect(ended).toEqual({ last_used_at: null });
  });

  it('does not wait for a concurrent change of a session', async () => {
    const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    const at = running.clock.now() + HOUR_MS;
    const sessions = [ada, bob].map(({ sessionId }) => ({ sessionId, at }));
    const uses = Array.from({ length: 20 }, (_, turn) =>
      running.auth.internal.noteSessionUses(
        (turn % 2 === 0 ? sessions : sessions.toReversed()).map((use) => ({ ...use, at: at + turn * HOUR_MS })),
      ),
    );
    await expect(Promise.all(uses)).resolves.toHaveLength(20);
  });

  it('shows only active sessions of the caller, and nothing to anonymous callers', async () => {
    const ada = await running.signUp('ada@example.com');
    const bob = await running.signUp('bob@example.com');
    expect((await sessionsOf(bob)).map(({ id }) => id)).toEqual([bob.sessionId]);
    expect(codeOf(await running.send(operations.SESSIONS))).toBe('UNAUTHENTICATED');
    await running.send(operations.LOGIN_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD } });
    const [short, own] = await sessionsOf(ada); // newest first
    expect([short?.current, own?.current]).toEqual([false, true]);
    running.clock.advance(HOUR_MS + 1_000);
    expect((await sessionsOf(ada)).map(({ id }) => id)).toEqual([ada.sessionId]);
    expect(codeOf(await running.send(operations.END_SESSION, { id: short?.id }, ada.identity))).toBe('NOT_FOUND');
  });
});

const DAY_MS = 86_400_000;

const inDays = (days: number) => new Date(running.clock.now() + days * DAY_MS).toISOString();
const listOf = async ({ identity }: OpenSession) =>
  (await running.send(operations.TOKENS, {}, identity)).data?.personalTokens as NewToken['personalToken'][];
const find = (token: string) => running.auth.internal.findPersonalToken(hashPersonalToken(token));
const made = async (session: OpenSession, change?: object) => tokenOf(await running.createToken(session, change));

describe('creating a personal token', () => {
  it('returns it once, stores only its hash, and adds an audit entry', async () => {
    const ada = await running.signUp('ada@example.com');
    const { token, personalToken } = await made(ada, { name: ' Backups ', scope: 'WRITE' });
    expect(token).toMatch(/^taskmesh_pat_[\w-]{43}$/);
    expect(personalToken).toMatchObject({ name: 'Backups', scope: 'WRITE', lastUsedAt: null });
    expect(await listOf(ada)).toEqual([personalToken]);
    const stored = JSON.stringify(await running.query('select * from personal_tokens'));
    expect(stored).toContain(hashPersonalToken(token));
    expect(stored).not.toContain(token.slice('taskmesh_pat_'.length));
    expect(await find(token)).toEqual({
      ...{ id: personalToken.id, scope: 'write', userId: ada.userId, email: 'ada@example.com' },
      createdAt: Math.floor(Date.parse(personalToken.createdAt) / 1000),
      expiresAt: Math.floor(Date.parse(personalToken.expiresAt) / 1000),
    });
    const facts = await running.query(`select session_id from audit_log where kind = 'token.created'`);
    expect(facts).toEqual([{ session_id: personalToken.id }]);
  });

  it('is rejected with an end that has passed or is too far away', async () => {
    const ada = await running.signUp('ada@example.com');
    for (const days of [-1, 367])
      expect(codeOf(await running.createToken(ada, { expiresAt: inDays(days) }))).toBe('BAD_USER_INPUT');
    expect(await listOf(ada)).toEqual([]);
  });

  it('is limited to a hundred tokens, even in concurrent requests, until one has ended', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.query(
      `insert into personal_tokens (id, account_id, name, scope, hash, created_at, expires_at)
       select gen_random_uuid(), $1, 'One of many', 'read', n::text, now(), now() + interval '1 day' from generate_series(1, 97) n`,
      [ada.userId],
    );
    expect(await outcomesOf(Array.from({ length: 8 }, () => running.createToken(ada)))).toEqual({ ok: 3, CONFLICT: 5 });
    await running.endToken(ada, (await listOf(ada))[0]?.id ?? '');
    expect(codeOf(await running.createToken(ada))).toBeUndefined();
  });

  it('is limited to a hundred a day, so that the list of ended tokens stays short', async () => {
    const ada = await running.signUp('ada@example.com');
    const ids: string[] = [];
    while (ids.length < 100) ids.push((await made(ada)).personalToken.id);
    await running.endToken(ada, ids[0] ?? '');
    expect(codeOf(await running.createToken(ada))).toBe('RATE_LIMITED');
  });
});

describe('a personal token', () => {
  it('is valid until it expires, and is then deleted', async () => {
    const ada = await running.signUp('ada@example.com');
    const { token } = await made(ada, { expiresAt: inDays(1) });
    running.clock.advance(DAY_MS - 1_000);
    expect(await find(token)).not.toBeNull();
    running.clock.advance(2_000);
    expect([await find(token), await listOf(ada)]).toEqual([null, []]);
    await running.auth.processAll();
    expect(await running.query('select 1 from personal_tokens')).toEqual([]);
  });

  it('lists its last use, to the minute', async () => {
    const ada = await running.signUp('ada@example.com');
    const { personalToken } = await made(ada);
    const at = running.clock.now() + 5 * MINUTE_MS;
    const uses = [0, 30_000, -MINUTE_MS].map((more) => [{ sessionId: personalToken.id, at: at + more }]);
    for (const use of uses) await running.auth.internal.noteSessionUses(use);
    expect((await listOf(ada))[0]?.lastUsedAt).toBe(new Date(at).toISOString());
  });

  it('survives a password change, and ends with a password reset by mail', async () => {
    const ada = await running.signUp('ada@example.com');
    const [{ token, personalToken }, foreign] = [await made(ada), await made(await running.signUp('bob@example.com'))];
    await running.changePassword(ada, 'another horse battery');
    expect(await find(token)).not.toBeNull();
    await running.auth.processAll();
    await running.resetByMail('ada@example.com', 'a third horse battery');
    expect(await find(token)).toBeNull();
    expect(await endedIds()).toEqual([ada.sessionId, personalToken.id]);
    expect(await find(foreign.token)).not.toBeNull();
  });
});

it('ending a personal token adds it to the list that gateways read, for at most a day, and adds an audit entry', async () => {
  const ada = await running.signUp('ada@example.com');
  const { token, personalToken } = await made(ada);
  const result = await running.endToken(ada, personalToken.id.toUpperCase());
  expect(result.data).toEqual({ endPersonalToken: personalToken.id });
  const [entry] = (await running.auth.internal.endedSessions(0)).sessions;
  expect(result.extensions).toEqual({ endedSessions: [entry] });
  expect(entry).toMatchObject({ sequence: 1, sessionId: personalToken.id });
  const leftS = (entry?.until ?? 0) - running.clock.now() / 1000;
  expect(Math.abs(leftS - DAY_MS / 1000)).toBeLessThan(10);
  expect([await find(token), await listOf(ada)]).toEqual([null, []]);
  const facts = await running.query(`select session_id from audit_log where kind = 'token.ended'`);
  expect(facts).toEqual([{ session_id: personalToken.id }]);
});

it('ending a personal token succeeds once in many concurrent requests', async () => {
  const ada = await running.signUp('ada@example.com');
  const { personalToken } = await made(ada);
  const ends = Array.from({ length: 8 }, () => running.endToken(ada, personalToken.id));
  expect(await outcomesOf(ends)).toEqual({ ok: 1, NOT_FOUND: 7 });
  expect(await endedIds()).toEqual([personalToken.id]);
});

import { createMemoryKeyValue } from '@taskmesh/key-value';
import type { Auth } from '../src/index.ts';
import { codeOf, LOGIN, REFRESH, RESET, sessionOf } from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const DAY_MS = 24 * 3_600_000;

const running = useAuth({ env: { AUDIT_RETENTION_DAYS: '90', RATE_LIMIT_FACTOR: '1' } });

const kinds = async () => (await running.query('select kind from audit_log order by id')).map(({ kind }) => kind);
const count = async (table: string) => Number((await running.query(`select count(*)::int as n from ${table}`))[0]?.n);

it('the rows of a session do not grow with refreshes, and distinguish a used token from one that was never issued', async () => {
  const { refreshToken, sessionId } = await running.signUp('a@example.com');
  let newest = refreshToken;
  for (let round = 0; round < 20; round++) {
    newest = sessionOf(await running.refresh(newest), 'refreshSession').refreshToken;
    expect(await count('refresh_tokens')).toBe(1);
  }
  expect(await count('sessions')).toBe(1);
  expect(codeOf(await running.refresh(refreshToken))).toBe('UNAUTHENTICATED');
  expect((await running.auth.internal.endedSessions(0)).sessions).toMatchObject([{ sessionId }]);
  expect(codeOf(await running.refresh(newest))).toBe('UNAUTHENTICATED');
});

it.each([
  ['the release before', 'refresh_key = null'],
  ['an earlier release', 'refresh_key = null, refresh_family = null'],
])('a session accepts a token of %s, whose second use still ends it', async (_release, columns) => {
  const { refreshToken, sessionId } = await running.signUp('a@example.com');
  await running.query(`update sessions set ${columns}`);
  const second = sessionOf(await running.refresh(refreshToken), 'refreshSession');
  const third = sessionOf(await running.refresh(second.refreshToken), 'refreshSession');
  expect(third.sessionId).toBe(sessionId);
  expect(codeOf(await running.refresh(refreshToken))).toBe('UNAUTHENTICATED');
  expect(codeOf(await running.refresh(third.refreshToken))).toBe('UNAUTHENTICATED');
  expect((await running.auth.internal.endedSessions(0)).sessions).toMatchObject([{ sessionId }]);
});

describe('refreshing', () => {
  /** Sends an operation to another instance. */
  const sendTo = ({ subgraph }: Auth, query: string, variables: Record<string, unknown>, ip?: string) =>
    subgraph.execute({ query, variables }, { identity: { role: 'anonymous', ip }, requestId: 'r' });

  it('has a limit for each session, beyond which the token stays unused', async () => {
    let { refreshToken } = await running.signUp('a@example.com');
    const other = await running.logIn('a@example.com');
    for (let round = 0; round < 60; round++)
      refreshToken = sessionOf(await running.refresh(refreshToken), 'refreshSession').refreshToken;
    const before = await kinds();
    const refused = await running.refresh(refreshToken);
    expect(refused.errors?.[0]?.extensions).toEqual({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
    expect(await kinds()).toEqual(before);
    expect(codeOf(await running.refresh(other.refreshToken))).toBeUndefined();

    const keyValue = createMemoryKeyValue(); // as in another process, without Redis
    const elsewhere = await running.another({}, { keyValue });
    expect(codeOf(await sendTo(elsewhere, REFRESH, { token: refreshToken }))).toBeUndefined();
  });

  it('has a limit for each account, and so have logins', async () => {
    const { userId, refreshToken } = await running.signUp('a@example.com');
    const keyValue = createMemoryKeyValue();
    for (const name of ['auth.opened', 'auth.refreshed']) {
      const counter = keyValue.limiter({ name, points: 600, windowSeconds: 3_600 });
      for (let count = 0; count < 599; count++) await counter.consume(userId);
    }
    const limited = await running.another({}, { keyValue });
    const refresh = (token: string) => sendTo(limited, REFRESH, { token });
    const input = { email: 'a@example.com', password: PASSWORD };
    expect(codeOf(await sendTo(limited, LOGIN, { input }))).toBeUndefined();
    const renewed = sessionOf(await refresh(refreshToken), 'refreshSession');
    expect(codeOf(await refresh(renewed.refreshToken))).toBe('RATE_LIMITED');
    expect(codeOf(await sendTo(limited, LOGIN, { input }))).toBe('RATE_LIMITED');
    const lenient = await running.another({ RATE_LIMIT_FACTOR: '0' }, { keyValue });
    expect(codeOf(await sendTo(lenient, LOGIN, { input }))).toBeUndefined();

    // Someone who knew the former password may have used up both limits.
    const reset = { token: await running.mailedToken(input.email), newPassword: 'another battery staple' };
    await sendTo(limited, RESET, { input: reset });
    const own = sessionOf(await sendTo(limited, LOGIN, { input: { ...input, password: reset.newPassword } }), 'login');
    expect(codeOf(await refresh(own.refreshToken))).toBeUndefined();
  });

  it('has a limit for each caller', async () => {
    const strict = await running.another({ RATE_LIMIT_FACTOR: '0.01' });
    const refresh = async (ip: string) => codeOf(await sendTo(strict, REFRESH, { token: 'none' }, ip));
    const codes = [];
    for (let index = 0; index < 11; index++) codes.push(await refresh(`2001:db8::${index}`));
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 'UNAUTHENTICATED'), 'RATE_LIMITED']);
    expect(await refresh('192.0.2.7')).toBe('UNAUTHENTICATED');
  });
});

it('the audit trail deletes failed logins and refreshes after 30 days, other entries after the retention', async () => {
  const { refreshToken } = await running.signUp('a@example.com');
  await running.refresh(refreshToken);
  for (const email of ['a@example.com', 'unknown@example.com']) await running.tryLogIn(email, 'wrong');
  expect(await kinds()).toEqual(['account.created', 'session.refreshed', 'login.failed', 'login.failed']);
  running.clock.advance(29 * DAY_MS);
  await running.auth.processAll();
  expect(await kinds()).toHaveLength(4);
  running.clock.advance(2 * DAY_MS);
  await running.auth.processAll();
  expect(await kinds()).toEqual(['account.created']);
  running.clock.advance(60 * DAY_MS);
  await running.auth.processAll();
  expect(await kinds()).toEqual([]);
});

it('the audit trail keeps the newest 100,000 failed logins without an account, and all those with one', async () => {
  const { userId } = await running.signUp('a@example.com');
  await running.tryLogIn('a@example.com', 'wrong');
  const failed = `select now(), 'login.failed', n::text from generate_series(1, 102500) n`;
  await running.query(`insert into audit_log (at, kind, request_id) ${failed}`);
  await running.auth.processAll();
  const strangers = 'select count(*)::int as n, min(request_id::int) as first from audit_log where account_id is null';
  expect(await running.query(strangers)).toEqual([{ n: 100_000, first: 2_501 }]);
  expect(await running.query('select kind from audit_log where account_id = $1', [userId])).toHaveLength(2);
});

it('looks for entries of accounts that were deleted earlier than yesterday only once after a start', async () => {
  await running.query(
    `insert into account_log (sequence, account_id, kind, occurred_at)
     select n, md5(n::text)::uuid, 'DELETED', now() - n * interval '13 hours' from generate_series(1, 50) n`,
  );
  const swept = async (auth: Pick<typeof running.auth, 'processAll'>) => {
    const opened = `select now(), 'session.opened', account_id, '' from account_log`;
    await running.query(`insert into audit_log (at, kind, account_id, request_id) ${opened}`);
    await auth.processAll();
    return count('audit_log');
  };
  const restarted = await running.another();
  expect([await swept(restarted), await swept(restarted)]).toEqual([0, 49]);
  expect(await swept(await running.another())).toBe(0);
});

it('expired rows are deleted in batches, and the others stay', async () => {
  const { identity, userId } = await running.signUp('a@example.com');
  await running.logOut(identity);
  await running.requestReset('a@example.com');
  await running.auth.processAll();
  await running.query(
    `insert into sessions (id, account_id, created_at, tokens_until, expires_at)
       select gen_random_uuid(), $1, now(), now(), now() - interval '1 second' from generate_series(1, 2500)`,
    [userId],
  );
  const ended = `select n, gen_random_uuid(), now() - interval '2 minutes' from generate_series(10, 2510) n`;
  await running.query(`insert into ended_sessions ${ended}`);
  const tokens = `select n::text, $1, now(), now() - interval '1 second' from generate_series(1, 2500) n`;
  await running.query(`insert into reset_tokens ${tokens}`, [userId]);
  await running.query(
    `insert into email_tokens
       select n::text, $1::uuid, 'new@example.com', now(), now() + n * interval '1 second' from generate_series(-2500, 0) n union all
       select 'lives', $1::uuid, 'new@example.com', now(), now() + interval '1 hour'`,
    [userId],
  );
  await running.auth.processAll();
  const tables = ['sessions', 'ended_sessions', 'reset_tokens', 'recovery_requests', 'email_tokens'];
  expect(await Promise.all(tables.map(count))).toEqual([1, 1, 1, 0, 1]);
});

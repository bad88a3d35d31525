import type { EndedSession } from '@taskmesh/internal-api';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { whileLocked } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { PASSWORD, useAuth } from './support/running-auth.ts';
import { codeOf, END_OTHERS, LOGIN_PLAIN, sessionOf, type OpenSession } from './support/operations.ts';

const MINUTE_MS = 60_000;
/** The response to some of many concurrent requests when the store is slow: nothing has changed, and they may be retried. */
const BUSY = 'SERVICE_UNAVAILABLE';

const registry = new Registry();
const env = { PUBLIC_URL: 'https://tasks.example/', HASH_CONCURRENCY: '8' };
const running = useAuth({ env, config: { maxSessionsPerAccount: 2 }, metrics: registry });

const ACTIVE =
  'select id from sessions where account_id = $1 and ended_at is null and expires_at > now() order by created_at';
const AUDIT = 'select session_id as id, ip, request_id from audit_log where account_id = $1 and kind = $2 order by id';
const active = async ({ userId }: OpenSession) => (await running.query(ACTIVE, [userId])).map(({ id }) => String(id));
const auditOf = (kind: string, { userId }: OpenSession) => running.query(AUDIT, [userId, kind]);
const listedBy = (result: SubgraphResult) =>
  ((result.extensions?.endedSessions ?? []) as EndedSession[]).map(({ sessionId }) => sessionId);

/** The complete list of ended sessions, as gateways read it. */
async function wholeList(): Promise<EndedSession[]> {
  const all: EndedSession[] = [];
  for (let after = 0; ;) {
    const { last, sessions } = await running.auth.internal.endedSessions(after);
    if (sessions.length === 0) return all;
    all.push(...sessions);
    after = last;
  }
}

/** Adds sessions, as from many logins or from an earlier release without a limit. */
const fill = ({ userId }: OpenSession, count: number) =>
  running.query(
    `with made as (
       insert into sessions (id, account_id, created_at, tokens_until, expires_at)
       select gen_random_uuid(), $1, now() - interval '1 day', now() + interval '1 hour', now() + interval '30 days'
       from generate_series(1, $2::integer) returning id
     )
     insert into refresh_tokens (hash, session_id, created_at, expires_at)
     select id::text, id, now(), now() + interval '30 days' from made`,
    [userId, count],
  );

/** The number of statements that the service has sent. */
async function statements(): Promise<number> {
  const counts = (await registry.metrics()).matchAll(/^db_client_operation_duration_seconds_count\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('an account that may have two sessions', () => {
  it('reports all sessions that ended in one operation', async () => {
    await running.signUp('ada@example.com');
    await running.logIn('ada@example.com');
    const both = `mutation ($input: LoginInput!) {
      one: login(input: $input) { accessToken }
      other: login(input: $input) { accessToken }
    }`;
    const result = await running.send(both, { input: { email: 'ada@example.com', password: PASSWORD } });
    expect(codeOf(result)).toBeUndefined();
    expect(listedBy(result)).toHaveLength(2);
    expect(listedBy(result)).toEqual((await wholeList()).map(({ sessionId }) => sessionId));
  });

  it('opens and ends no session if the password has changed meanwhile', async () => {
    const ada = await running.signUp('ada@example.com');
    const other = await running.logIn('ada@example.com');
    const changing = 'update accounts set password_version = password_version + 1';
    const login = () => running.tryLogIn('ada@example.com');
    expect(codeOf(await whileLocked(running.database, [changing], login))).toBe('UNAUTHENTICATED');
    expect(await active(ada)).toEqual([ada.sessionId, other.sessionId]);
    expect(await wholeList()).toEqual([]);
  });

  it('counts only usable sessions', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.send(LOGIN_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD } });
    running.clock.advance(61 * MINUTE_MS); // the second one had only an access token
    const other = await running.logIn('ada@example.com');
    expect(await wholeList()).toEqual([]);
    for (const { refreshToken } of [ada, other]) expect(codeOf(await running.refresh(refreshToken))).toBeUndefined();
  });

  const MANY = 1_500;

  const newPassword = 'another horse battery';
  const ways: [string, (who: OpenSession, email: string, token: string) => Promise<SubgraphResult>][] = [
    ['ends all others', ({ identity }) => running.send(END_OTHERS, {}, identity)],
    ['changes its password', (who) => running.changePassword(who, newPassword)],
    ['sets a new password by mail', (_who, _email, token) => running.resetPassword(token, newPassword)],
    ['deletes itself', (who) => running.deleteAccount(who)],
    ['logs in', (_who, email) => running.tryLogIn(email)],
  ];

  it.each(ways)(
    '%s with as many statements for 1,500 sessions of an earlier release as for three, and a response of bounded size',
    async (_what, way) => {
      const costs: number[] = [];
      const sizes: number[] = [];
      for (const count of [3, MANY]) {
        const email = `has.${count}@example.com`;
        const who = await running.signUp(email);
        await fill(who, count);
        const token = await running.mailedToken(email);
        const listed = (await wholeList()).length;
        const before = await statements();
        const result = await way(who, email, token);
        costs.push((await statements()) - before);
        sizes.push(listedBy(result).length);
        expect(codeOf(result)).toBeUndefined();
        const list = (await wholeList()).slice(listed);
        expect(list.length).toBeGreaterThanOrEqual(count - 1);
        expect(list.map(({ sequence }) => sequence)).toEqual(list.map((_entry, index) => listed + index + 1));
        expect(listedBy(result)).toEqual(list.slice(0, 1_000).map(({ sessionId }) => sessionId));
        expect((await active(who)).length).toBeLessThanOrEqual(2);
      }
      const [ofFew = 0, ofMany] = costs;
      expect(ofMany).toBeLessThan(ofFew + 20); // background work may add some
      expect(sizes[1]).toBe(1_000);
    },
  );

  it('ends its least recently used session when its owner logs in', async () => {
    const first = await running.signUp('ada@example.com');
    const second = await running.logIn('ada@example.com');
    const bob = await running.signUp('bob@example.com');
    const at = running.clock.now() + 2 * MINUTE_MS;
    await running.auth.internal.noteSessionUses([{ sessionId: first.sessionId, at }]);
    const result = await running.tryLogIn('ada@example.com');
    const third = sessionOf(result, 'login');
    expect(listedBy(result)).toEqual([second.sessionId]);
    expect((await wholeList()).map(({ sessionId }) => sessionId)).toEqual([second.sessionId]);
    expect(await active(first)).toEqual([first.sessionId, third.sessionId]);
    expect(codeOf(await running.refresh(second.refreshToken))).toBe('UNAUTHENTICATED');
    for (const { refreshToken } of [first, third, bob])
      expect(codeOf(await running.refresh(refreshToken))).toBeUndefined();
    const ending = { id: second.sessionId, ip: '192.0.2.1', request_id: 'request-1' };
    expect(await auditOf('session.ended', first)).toEqual([ending]);
    expect(await auditOf('session.opened', first)).toHaveLength(2);
  });

  it('never has more, even with many concurrent logins', async () => {
    const ada = await running.signUp('ada@example.com');
    const others = await Promise.all(Array.from({ length: 20 }, () => running.tryLogIn('ada@example.com')));
    const opened = others.filter((result) => !result.errors).length;
    for (const result of others) expect([undefined, BUSY]).toContain(codeOf(result));
    expect(opened).toBeGreaterThanOrEqual(2);
    expect(await auditOf('session.opened', ada)).toHaveLength(opened);
    expect(await active(ada)).toHaveLength(2);
    const list = await wholeList();
    expect(list.map(({ sequence }) => sequence)).toEqual(list.map((_entry, index) => index + 1));
    expect(list).toHaveLength(opened - 1);
    expect(await auditOf('session.ended', ada)).toHaveLength(list.length);
    expect(others.flatMap(listedBy).toSorted()).toEqual(list.map(({ sessionId }) => sessionId).toSorted());
  });
});

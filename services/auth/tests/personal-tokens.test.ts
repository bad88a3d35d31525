import { hashPersonalToken } from '@taskmesh/identity';
import {
  CHANGE_PASSWORD,
  codeOf,
  CREATE_TOKEN,
  END_TOKEN,
  outcomesOf,
  TOKENS,
  type OpenSession,
} from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const running = useAuth();

type Shown = Record<'id' | 'name' | 'scope' | 'createdAt' | 'expiresAt', string> & { lastUsedAt: string | null };

const inDays = (days: number) => new Date(running.clock.now() + days * DAY_MS).toISOString();
const create = ({ identity }: Pick<OpenSession, 'identity'>, change: object = {}) =>
  running.send(
    CREATE_TOKEN,
    { input: { name: 'A program', scope: 'READ', expiresAt: inDays(30), ...change } },
    identity,
  );
const listOf = async ({ identity }: OpenSession) =>
  (await running.send(TOKENS, {}, identity)).data?.['personalTokens'] as Shown[];
const find = (token: string) => running.auth.internal.findPersonalToken(hashPersonalToken(token));
const endedIds = async () => (await running.auth.internal.endedSessions(0)).sessions.map(({ sessionId }) => sessionId);

async function made(session: Pick<OpenSession, 'identity'>, change: object = {}) {
  const { data, errors } = await create(session, change);
  if (errors) throw new Error(JSON.stringify(errors));
  return data?.['createPersonalToken'] as { token: string; personalToken: Shown };
}

describe('creating a personal token', () => {
  it('returns it once, stores only its hash, and adds an audit entry', async () => {
    const ada = await running.signUp('ada@example.com');
    const { token, personalToken } = await made(ada, { name: ' Backups ', scope: 'WRITE' });
    expect(token).toMatch(/^taskmesh_pat_[\w-]{43}$/);
    expect(personalToken).toMatchObject({ name: 'Backups', scope: 'WRITE', lastUsedAt: null });
    expect(await listOf(ada)).toEqual([personalToken]);
    const stored = JSON.stringify(await running.database.query('select * from personal_tokens'));
    expect(stored).toContain(hashPersonalToken(token));
    expect(stored).not.toContain(token.slice('taskmesh_pat_'.length));
    expect(await find(token)).toEqual({
      ...{ id: personalToken.id, scope: 'write', userId: ada.userId, email: 'ada@example.com' },
      createdAt: Math.floor(Date.parse(personalToken.createdAt) / 1000),
      expiresAt: Math.floor(Date.parse(personalToken.expiresAt) / 1000),
    });
    const facts = await running.database.query(`select session_id from audit_log where kind = 'token.created'`);
    expect(facts).toEqual([{ session_id: personalToken.id }]);
  });

  it('is rejected with an end that has passed or is too far away', async () => {
    const ada = await running.signUp('ada@example.com');
    for (const days of [-1, 367]) expect(codeOf(await create(ada, { expiresAt: inDays(days) }))).toBe('BAD_USER_INPUT');
    expect(await listOf(ada)).toEqual([]);
  });

  it('is limited to a hundred tokens, even in concurrent requests, until one has ended', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.database.query(
      `insert into personal_tokens (id, account_id, name, scope, hash, created_at, expires_at)
       select gen_random_uuid(), $1, 'One of many', 'read', n::text, now(), now() + interval '1 day' from generate_series(1, 97) n`,
      [ada.userId],
    );
    const attempts = Array.from({ length: 8 }, () => create(ada));
    expect(await outcomesOf(attempts)).toEqual({ ok: 3, CONFLICT: 5 });
    await running.send(END_TOKEN, { id: (await listOf(ada))[0]?.id }, ada.identity);
    expect(codeOf(await create(ada))).toBeUndefined();
  });

  it('is limited to a hundred a day, so that the list of ended tokens stays short', async () => {
    const ada = await running.signUp('ada@example.com');
    const ids: string[] = [];
    while (ids.length < 100) ids.push((await made(ada)).personalToken.id);
    await running.send(END_TOKEN, { id: ids[0] }, ada.identity);
    expect(codeOf(await create(ada))).toBe('RATE_LIMITED');
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
    expect(await running.database.query('select 1 from personal_tokens')).toEqual([]);
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
    const bob = await running.signUp('bob@example.com');
    const [{ token, personalToken }, foreign] = [await made(ada), await made(bob)];
    const input = { currentPassword: PASSWORD, newPassword: 'another horse battery' };
    await running.send(CHANGE_PASSWORD, { input }, ada.identity);
    expect(await find(token)).not.toBeNull();
    await running.auth.processAll();
    await running.resetByMail('ada@example.com', 'a third horse battery');
    expect(await find(token)).toBeNull();
    expect(await endedIds()).toEqual([ada.sessionId, personalToken.id]);
    expect(await find(foreign.token)).not.toBeNull();
  });
});

describe('ending a personal token', () => {
  it('adds it to the list that gateways read, for at most a day, and adds an audit entry', async () => {
    const ada = await running.signUp('ada@example.com');
    const { token, personalToken } = await made(ada);
    const result = await running.send(END_TOKEN, { id: personalToken.id.toUpperCase() }, ada.identity);
    expect(result.data).toEqual({ endPersonalToken: personalToken.id });
    const [entry] = (await running.auth.internal.endedSessions(0)).sessions;
    expect(result.extensions).toEqual({ endedSessions: [entry] });
    expect(entry).toMatchObject({ sequence: 1, sessionId: personalToken.id });
    const leftS = (entry?.until ?? 0) - running.clock.now() / 1000;
    expect(Math.abs(leftS - DAY_MS / 1000)).toBeLessThan(10);
    expect([await find(token), await listOf(ada)]).toEqual([null, []]);
    const facts = await running.database.query(`select session_id from audit_log where kind = 'token.ended'`);
    expect(facts).toEqual([{ session_id: personalToken.id }]);
  });

  it('succeeds once in many concurrent requests', async () => {
    const ada = await running.signUp('ada@example.com');
    const { personalToken } = await made(ada);
    const end = () => running.send(END_TOKEN, { id: personalToken.id }, ada.identity);
    expect(await outcomesOf(Array.from({ length: 8 }, end))).toEqual({ ok: 1, NOT_FOUND: 7 });
    expect(await endedIds()).toEqual([personalToken.id]);
  });
});

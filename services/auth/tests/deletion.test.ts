import {
  CHANGE_EMAIL,
  CHANGE_NAME,
  CHANGE_PASSWORD,
  codeOf,
  CREATE_TOKEN,
  DELETE_ACCOUNT,
  LOGIN_PLAIN,
  SIGN_UP_PLAIN,
  type OpenSession,
} from './support/operations.ts';
import { noteDeletions, PASSWORD, textOfStore, useAuth } from './support/running-auth.ts';

const START = { epoch: 0, sequence: 0 };

const running = useAuth();

const del = ({ identity }: Pick<OpenSession, 'identity'>, password = PASSWORD) =>
  running.send(DELETE_ACCOUNT, { input: { password } }, identity);
const login = (email: string, password = PASSWORD) => running.send(LOGIN_PLAIN, { input: { email, password } });
const createToken = async ({ identity }: OpenSession, scope = 'WRITE') => {
  const expiresAt = new Date(running.clock.now() + 86_400_000).toISOString();
  const { data } = await running.send(CREATE_TOKEN, { input: { name: 'program', scope, expiresAt } }, identity);
  return (data?.createPersonalToken as { personalToken: { id: string } }).personalToken.id;
};

describe('deleting an account', () => {
  it('leaves nothing in the store except the fact of the deletion, once the last mail is sent', async () => {
    const ada = await running.signUp('ada@example.com');
    await createToken(ada);
    await login('ada@example.com', 'wrong');
    await running.send(CHANGE_NAME, { name: 'Ada Lovelace' }, ada.identity);
    await running.requestReset('ada@example.com');
    await running.send(CHANGE_EMAIL, { input: { email: 'lovelace@example.com', password: PASSWORD } }, ada.identity);
    await running.auth.processAll();
    await running.requestReset('ada@example.com');
    await del(ada);
    running.postbox.failure = new Error('away');
    await running.auth.processAll();
    expect(await textOfStore(running)).toContain('ada@example.com'); // the last mail waits
    running.postbox.failure = undefined;
    running.clock.advance(10_000);
    await running.auth.processAll();
    const last = { to: 'ada@example.com', subject: 'Your Taskmesh account was deleted' };
    expect(running.postbox.mails.at(-1)).toMatchObject(last);
    const left = await textOfStore(running);
    for (const trace of ['ada@', 'lovelace@', 'Lovelace', '192.0.2.1']) expect(left).not.toContain(trace);
    const entries = await running.database.query('select kind, account_id, session_id, ip from audit_log');
    expect(entries).toEqual([{ kind: 'account.deleted', account_id: ada.userId, session_id: null, ip: null }]);
  });

  it('happens once for many concurrent requests, and no login or change comes in between', async () => {
    const ada = await running.signUp('ada@example.com');
    const change = { input: { currentPassword: PASSWORD, newPassword: 'another horse battery' } };
    const asked = [
      ...Array.from({ length: 4 }, () => del(ada)),
      ...Array.from({ length: 4 }, () => login('ada@example.com')),
      running.send(CHANGE_NAME, { name: 'Ada' }, ada.identity),
      running.send(CHANGE_PASSWORD, change, ada.identity),
    ];
    const results = await Promise.all(asked);
    const done = results.slice(0, 4).filter(({ data }) => data?.deleteAccount === true);
    for (const result of results) expect([undefined, 'UNAUTHENTICATED', 'BAD_USER_INPUT']).toContain(codeOf(result));
    // If the password change was faster, no deletion had the right password.
    const isChanged = codeOf(results.at(-1) ?? {}) === undefined;
    expect(done).toHaveLength(isChanged ? 0 : 1);
    expect((await running.auth.accounts.accountChanges(START)).changes).toHaveLength(isChanged ? 0 : 1);
    if (isChanged) return;
    await running.auth.processAll();
    expect(await running.database.query('select id from sessions union all select id from accounts')).toEqual([]);
    // The failed logins that found no account belong to no account.
    const trail = await running.database.query('select kind from audit_log where account_id is not null');
    expect(trail).toEqual([{ kind: 'account.deleted' }]);
  });

  it('erases a long trail in bounded transactions, completely or not at all', async () => {
    const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    await running.database.query(
      `insert into audit_log (at, kind, account_id, ip, request_id)
       select now(), 'session.refreshed', $1::uuid, '192.0.2.1', n::text from generate_series(1, 5000) n`,
      [ada.userId],
    );
    const sizes = await noteDeletions(running, 'audit_log');
    await running.database.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
       create trigger refuse before delete on accounts for each row execute function refuse()`,
    );
    const count = async ({ userId }: OpenSession) =>
      (await running.database.query('select count(*)::int as n from audit_log where account_id = $1', [userId]))[0]?.n;
    expect(codeOf(await del(ada))).toBe('INTERNAL_SERVER_ERROR');
    expect([await count(ada), await sizes()]).toEqual([5_001, []]);
    await running.database.query('drop trigger refuse on accounts');
    expect(codeOf(await del(ada))).toBeUndefined();
    expect(await count(ada)).toBe(4_002);
    await running.auth.processAll();
    expect([await count(ada), await count(bob)]).toEqual([1, 1]);
    expect(Math.max(...(await sizes()))).toBeLessThanOrEqual(1_000);
    expect((await sizes()).reduce((sum, size) => sum + size, 0)).toBe(5_001);
  });
});

const deleted = async (email: string) => {
  const session = await running.signUp(email);
  expect(codeOf(await del(session))).toBeUndefined();
  return session.userId;
};

describe('the account log', () => {
  it('lists deletions in commit order and without gaps, even concurrent ones, from any position', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push(await deleted(`${name}@example.com`));
    const others = ['d', 'e', 'f', 'g', 'h', 'i', 'j', 'k'].map((name) => deleted(`${name}@example.com`));
    const concurrent = new Set(await Promise.all(others));
    const { epoch, head, changes } = await running.auth.accounts.accountChanges(START);
    expect(head).toBe(11);
    expect(new Set(changes.slice(3).map(({ accountId }) => accountId))).toEqual(concurrent);
    expect(changes.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(changes.slice(0, 3)).toEqual(
      ids.map((accountId, index) => ({
        ...{ kind: 'DELETED', epoch, sequence: index + 1, accountId },
        occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })),
    );
    const behind = async (sequence: number, of = epoch) =>
      (await running.auth.accounts.accountChanges({ epoch: of, sequence })).changes.map((change) => change.sequence);
    expect(await behind(9)).toEqual([10, 11]);
    expect(await behind(11)).toEqual([]);
    // A position in another log, or beyond the head: everything.
    expect(await behind(9, epoch - 1)).toHaveLength(11);
    expect(await behind(12)).toHaveLength(11);
    await expect(running.auth.accounts.accountChanges({ epoch: 1, sequence: -1 })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
  });

  it('begins no epoch while the store is frozen, and reports why; later a higher one', async () => {
    await deleted('ada@example.com');
    const { epoch } = await running.auth.accounts.accountChanges(START);
    const freeze = (to: 'on' | 'off') =>
      running.database.query(
        `begin read write; alter database ${running.database.name} set default_transaction_read_only = ${to}; commit`,
      );
    await freeze('on');
    await running.database.query(
      `select count(pg_terminate_backend(pid)) from pg_stat_activity
       where datname = current_database() and application_name like 'taskmesh-%'`,
    );
    await expect(running.auth.restore.newEpoch()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The store auth is read-only (default_transaction_read_only). Allow writes, then repeat this.',
    });
    await freeze('off');
    await running.auth.stop(); // its connections still take no writes
    const restarted = await running.another();
    const next = await restarted.restore.newEpoch();
    expect(next).toBeGreaterThan(epoch);
    expect((await restarted.accounts.accountChanges({ epoch, sequence: 1 })).changes).toMatchObject([
      { epoch: next, sequence: 1 },
    ]);
  });
});

it('treats a sign-up during a deletion as a new account', async () => {
  const first = await running.send(SIGN_UP_PLAIN, {
    input: { email: 'ada@example.com', password: PASSWORD, name: 'A' },
  });
  expect(codeOf(first)).toBeUndefined();
  const ada = await running.logIn('ada@example.com');
  const results = await Promise.all([
    del(ada),
    ...Array.from({ length: 5 }, () =>
      running.send(SIGN_UP_PLAIN, { input: { email: 'ada@example.com', password: PASSWORD, name: 'B' } }),
    ),
  ]);
  expect(codeOf(results[0] ?? {})).toBeUndefined();
  for (const result of results.slice(1)) expect([undefined, 'CONFLICT']).toContain(codeOf(result));
  const accounts = await running.database.query('select id from accounts');
  expect(accounts.length).toBeLessThanOrEqual(1);
  expect(accounts).not.toContainEqual({ id: ada.userId });
});

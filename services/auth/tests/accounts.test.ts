import { hashSync } from '@node-rs/argon2';
import { hashSync as bcrypt } from 'bcrypt';
import { eventually, whileLocked } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import * as statements from '../src/accounts/account.statements.ts';
import { codeOf, SIGN_UP, SIGN_UP_PLAIN, type OpenSession } from './support/operations.ts';
import { PASSWORD, useAuth, textOfStore, noteDeletions } from './support/running-auth.ts';

const running = useAuth({ hashCost: { memoryCost: 16, timeCost: 2 } });

describe('signing up', () => {
  it('with a taken address is no error of PostgreSQL, whose log would show the address', async () => {
    const [address, now] = ['taken@example.com', new Date()];
    const times = [now, now, now, null, now];
    const rest = [null, '', 'account.created', '', null, null, address, address, '', '', now];
    const signUp = (id: string) => running.query(statements.SIGN_UP.text, [id, id, ...times, ...rest]);
    expect(await signUp(randomUUID())).toHaveLength(1);
    expect(await signUp(randomUUID())).toEqual([]);
  });

  it('reports all problems of a sign-up at once', async () => {
    const issuesOf = async (input: object) => (await running.send(SIGN_UP, { input })).errors?.[0]?.extensions?.issues;
    const email = { path: 'email', message: 'email must be an e-mail address.' };
    const name = { path: 'name', message: 'name must have 1 to 255 characters.' };
    const short = { path: 'password', message: 'password must have 8 to 128 characters.' };
    expect(await issuesOf({ email: 'unknown', password: 'short', name: ' ' })).toEqual([email, name, short]);
    const same = { path: 'password', message: 'password must not be the e-mail address.' };
    expect(await issuesOf({ email: 'ada@example.com', password: 'ada@example.com', name: '' })).toEqual([name, same]);
  });

  it('accepts an address only if mailers read it as people do', async () => {
    const message = 'email must not contain invisible characters or variants of letters.';
    for (const [email, isAccepted] of [
      ['ada@exam\u200bple.com', false],
      ['ada@example.com\u00ad', false],
      ['ada\u2060@example.com', false],
      ['ada@exam\ufe0fple.com', false],
      ['ada@ｅxample.com', false],
      ['ada@example\u3002com', false],
      ['ada@exämple.com', true],
      ['ada@xn--exmple-cua.com', true],
      ['ａda@example.com', true],
    ] as const) {
      const { errors } = await running.send(SIGN_UP, { input: { email, password: PASSWORD, name: 'Ada' } });
      const issues = isAccepted ? undefined : [{ path: 'email', message }];
      expect([email, errors?.[0]?.extensions?.issues]).toEqual([email, issues]);
    }
  });
});

describe('logging in', () => {
  /** Opens an account whose password another system has hashed. */
  const signUpWith = async (email: string, foreign: string) => {
    await running.signUp(email);
    await running.query('update accounts set password_hash = $2 where email_key = $1', [email, foreign]);
  };

  it.each([
    ['a cheaper one', hashSync(PASSWORD, { algorithm: 2, memoryCost: 8, timeCost: 1 })],
    ['a costlier one', hashSync(PASSWORD, { algorithm: 2, memoryCost: 64, timeCost: 3 })],
    ['one of another kind', hashSync(PASSWORD, { algorithm: 1, memoryCost: 16, timeCost: 2 })],
    ['one of bcrypt', bcrypt(PASSWORD, 4)],
    ['one of bcrypt with the letter y', bcrypt(PASSWORD, 4).replace('$2b$', '$2y$')],
  ])('replaces %s with a current hash after a successful login', async (what, foreign) => {
    const email = `${what.replaceAll(' ', '-')}@example.com`;
    const columns = 'password_hash as hash, password_version as version';
    const stored = async () =>
      (await running.query(`select ${columns} from accounts where email_key = $1`, [email]))[0];
    await signUpWith(email, foreign);
    expect(codeOf(await running.tryLogIn(email, 'not the one'))).toBe('UNAUTHENTICATED');
    expect(await stored()).toEqual({ hash: foreign, version: 1 });

    let logins: Promise<unknown> | undefined;
    const logInTwice = () => (logins = Promise.all([running.logIn(email), running.logIn(email)]));
    const lock: [string] = ['lock table accounts in share mode'];
    await whileLocked(running.database, lock, logInTwice, { meanwhile: () => logins }); // they do not wait for the new hash
    const current = { hash: expect.stringMatching(/^\$argon2id\$v=19\$m=16,t=2,p=1\$/), version: 1 };
    await eventually(async () => expect(await stored()).toEqual(current));
    const upgraded = await stored();
    await running.logIn(email);
    expect(await stored()).toEqual(upgraded);
  });

  it('keeps a bcrypt hash of a password beyond the 72 bytes that bcrypt reads, as its end may be mistyped', async () => {
    const email = 'long@example.com';
    const password = 'a'.repeat(80);
    await signUpWith(email, bcrypt(password, 4));
    for (const typed of [`${'a'.repeat(72)}mistyped`, password])
      expect(codeOf(await running.tryLogIn(email, typed))).toBeUndefined();
  });

  it('rejects an empty password, even if another system has hashed one', async () => {
    const email = 'none@example.com';
    await signUpWith(email, hashSync('', { algorithm: 2, memoryCost: 16, timeCost: 2 }));
    expect(codeOf(await running.tryLogIn(email, ''))).toBe('UNAUTHENTICATED');
  });

  it('creates a refresh token if it is selected, even in a fragment, and otherwise a session as short as its access token', async () => {
    const [email, input] = ['plain@example.com', { email: 'plain@example.com', password: PASSWORD }];
    await running.send(SIGN_UP_PLAIN, { input: { ...input, name: 'P' } });
    const query = `mutation ($input: LoginInput!, $skip: Boolean!) { login(input: $input) { ...S } }
      fragment S on Session { accessToken ... on Session { again: refreshToken @skip(if: $skip) } }`;
    const accessToken = expect.any(String);
    expect((await running.send(query, { input, skip: true })).data?.login).toEqual({ accessToken });
    const again = expect.any(String);
    expect((await running.send(query, { input, skip: false })).data?.login).toEqual({ accessToken, again });
    const sessions = await running.query(
      `select s.expires_at = s.tokens_until as short, r.hash is not null as has from accounts a
       join sessions s on s.account_id = a.id left join refresh_tokens r on r.session_id = s.id
       where a.email_key = $1 order by s.created_at`,
      [email],
    );
    const short = { short: true, has: false };
    expect(sessions).toEqual([short, short, { short: false, has: true }]);
  });
});

it('the caller resolves as an entity, but no other account does', async () => {
  const ada = await running.signUp('entity-ada@example.com');
  const bob = await running.signUp('entity-bob@example.com');
  const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { id email } } }';
  const r = [ada, bob].map(({ userId }) => ({ __typename: 'User', id: userId }));
  const result = await running.send(query, { r }, ada.identity);
  expect(result.data?._entities).toEqual([{ id: ada.userId, email: 'entity-ada@example.com' }, null]);
  expect((await running.send(query, { r })).data?._entities).toEqual([null, null]);
});

it('the audit trail lists every change to an account in order, with IP and request; no table has usable secrets', async () => {
  const email = 'ada@example.com';
  const first = await running.signUp(email);
  await running.tryLogIn(email, 'not the one');
  const second = await running.logIn(email);
  await running.logOut(second.identity);
  const { data } = await running.refresh(first.refreshToken);
  await running.refresh(first.refreshToken);
  const password = 'another horse battery';
  const token = await running.mailedToken(email);
  const stored = [await textOfStore(running)];
  await running.resetPassword(token, password);
  const own = await running.logIn(email, password);
  stored.push(await textOfStore(running));
  await running.changePassword(own, password, password);
  await running.requestEmail(own, 'new@example.com', password);
  await running.changeName(own);

  const rows = await running.query('select * from audit_log where account_id = $1 order by id', [first.userId]);
  expect(rows.map(({ kind, session_id }) => [kind, session_id])).toEqual([
    ['account.created', first.sessionId],
    ['login.failed', null],
    ['session.opened', second.sessionId],
    ['session.ended', second.sessionId],
    ['session.refreshed', first.sessionId],
    ['session.refresh_token_reused', first.sessionId],
    ['recovery.requested', null],
    ['recovery.mail_sent', null],
    ['password.reset', null],
    ...['session.opened', 'password.changed', 'email.change_requested', 'name.changed'].map((kind) => [
      kind,
      own.sessionId,
    ]),
  ]);
  for (const row of rows) expect(row).toMatchObject({ ip: '192.0.2.1', request_id: 'request-1', at: expect.any(Date) });
  const text = JSON.stringify(rows);
  const secrets = [PASSWORD, password, 'not the one', token, own.accessToken, own.refreshToken];
  for (const secret of [email, first.refreshToken, JSON.stringify(data), ...secrets])
    expect(text).not.toContain(secret);
  for (const secret of secrets) expect(stored.join()).not.toContain(secret);
});

it.each([`update audit_log set kind = 'nothing'`, 'delete from audit_log', 'truncate audit_log'])(
  'the audit trail rejects changes: %s',
  async (statement) => {
    const count = () => running.query('select count(*) from audit_log');
    const before = await count();
    await expect(running.query(statement)).rejects.toThrow('the audit trail only grows');
    expect(await count()).toEqual(before);
  },
);

const TRAIL =
  'query ($first: Int, $after: ID) { auditEntries(first: $first, after: $after) { id at kind sessionId ip } }';
const trailOf = async ({ identity }: OpenSession, variables: object = {}) =>
  (await running.send(TRAIL, variables, identity)).data?.['auditEntries'] as { id: string; kind: string }[];

it("the caller's own audit trail lists entries, newest first, in pages, and none of other accounts", async () => {
  const eve = await running.signUp('eve@example.com');
  const second = await running.logIn('eve@example.com');
  const bob = await running.signUp('bob@example.com');
  await running.tryLogIn('eve@example.com', 'wrong');
  await running.logOut(second.identity);
  const entries = await trailOf(eve);
  const times = { id: expect.stringMatching(/^\d+$/), at: expect.stringMatching(/Z$/), ip: '192.0.2.1' };
  expect(entries).toEqual([
    { ...times, kind: 'session.ended', sessionId: second.sessionId },
    { ...times, kind: 'login.failed', sessionId: null },
    { ...times, kind: 'session.opened', sessionId: second.sessionId },
    { ...times, kind: 'account.created', sessionId: eve.sessionId },
  ]);
  const pages = [await trailOf(eve, { first: 3 }), await trailOf(eve, { first: 3, after: entries[2]?.id })];
  expect(pages.flat()).toEqual(entries);
  expect(await trailOf(eve, { after: entries.at(-1)?.id })).toEqual([]);
  expect((await trailOf(bob)).map(({ kind }) => kind)).toEqual(['account.created']);
  // Another user's entry only marks a position.
  expect(await trailOf(bob, { after: entries.at(-1)?.id })).toEqual([]);
});

const START = { epoch: 0, sequence: 0 };

describe('deleting an account', () => {
  it('leaves nothing in the store except the fact of the deletion, once the last mail is sent', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.createToken(ada);
    await running.tryLogIn('ada@example.com', 'wrong');
    await running.changeName(ada, 'Ada Lovelace');
    await running.requestReset('ada@example.com');
    await running.requestEmail(ada, 'lovelace@example.com');
    await running.auth.processAll();
    await running.requestReset('ada@example.com');
    await running.deleteAccount(ada);
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
    const entries = await running.query('select kind, account_id, session_id, ip from audit_log');
    expect(entries).toEqual([{ kind: 'account.deleted', account_id: ada.userId, session_id: null, ip: null }]);
  });

  it('happens once for many concurrent requests, and no login or change comes in between', async () => {
    const ada = await running.signUp('ada@example.com');
    const results = await Promise.all([
      ...Array.from({ length: 4 }, () => running.deleteAccount(ada)),
      ...Array.from({ length: 4 }, () => running.tryLogIn('ada@example.com')),
      running.changeName(ada),
      running.changePassword(ada, 'another horse battery'),
    ]);
    const done = results.slice(0, 4).filter(({ data }) => data?.deleteAccount === true);
    for (const result of results) expect([undefined, 'UNAUTHENTICATED', 'BAD_USER_INPUT']).toContain(codeOf(result));
    // If the password change was faster, no deletion had the right password.
    const isChanged = codeOf(results.at(-1) ?? {}) === undefined;
    expect(done).toHaveLength(isChanged ? 0 : 1);
    expect((await running.auth.accounts.accountChanges(START)).changes).toHaveLength(isChanged ? 0 : 1);
    if (isChanged) return;
    await running.auth.processAll();
    expect(await running.query('select id from sessions union all select id from accounts')).toEqual([]);
    // The failed logins that found no account belong to no account.
    const trail = await running.query('select kind from audit_log where account_id is not null');
    expect(trail).toEqual([{ kind: 'account.deleted' }]);
  });

  it('erases a long trail in bounded transactions, completely or not at all', async () => {
    const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    await running.query(
      `insert into audit_log (at, kind, account_id, ip, request_id)
       select now(), 'session.refreshed', $1::uuid, '192.0.2.1', n::text from generate_series(1, 5000) n`,
      [ada.userId],
    );
    const sizes = await noteDeletions(running, 'audit_log');
    await running.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
       create trigger refuse before delete on accounts for each row execute function refuse()`,
    );
    const count = async ({ userId }: OpenSession) =>
      (await running.query('select count(*)::int as n from audit_log where account_id = $1', [userId]))[0]?.n;
    expect(codeOf(await running.deleteAccount(ada))).toBe('INTERNAL_SERVER_ERROR');
    expect([await count(ada), await sizes()]).toEqual([5_001, []]);
    await running.query('drop trigger refuse on accounts');
    expect(codeOf(await running.deleteAccount(ada))).toBeUndefined();
    expect(await count(ada)).toBe(4_002);
    await running.auth.processAll();
    expect([await count(ada), await count(bob)]).toEqual([1, 1]);
    expect(Math.max(...(await sizes()))).toBeLessThanOrEqual(1_000);
    expect((await sizes()).reduce((sum, size) => sum + size, 0)).toBe(5_001);
  });
});

const deleted = async (email: string) => {
  const session = await running.signUp(email);
  expect(codeOf(await running.deleteAccount(session))).toBeUndefined();
  return session.userId;
};

it('the account log lists deletions in commit order and without gaps, even concurrent ones, from any position', async () => {
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
  const negative = running.auth.accounts.accountChanges({ epoch: 1, sequence: -1 });
  await expect(negative).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

it('the account log begins no epoch while the store is frozen, and reports why; later a higher one', async () => {
  await deleted('ada@example.com');
  const { epoch } = await running.auth.accounts.accountChanges(START);
  const freeze = (to: 'on' | 'off') =>
    running.query(
      `begin read write; alter database ${running.database.name} set default_transaction_read_only = ${to}; commit;
         select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'taskmesh-%'`,
    );
  await freeze('on');
  const message = 'The store auth is read-only (default_transaction_read_only). Allow writes, then repeat this.';
  await expect(running.auth.restore.newEpoch()).rejects.toMatchObject({ code: 'CONFLICT', message });
  await freeze('off');
  const next = await running.auth.restore.newEpoch();
  expect(next).toBeGreaterThan(epoch);
  const { changes } = await running.auth.accounts.accountChanges({ epoch, sequence: 1 });
  expect(changes).toMatchObject([{ epoch: next, sequence: 1 }]);
});

it('treats a sign-up during a deletion as a new account', async () => {
  const ada = await running.signUp('ada@example.com');
  const again = { input: { email: 'ada@example.com', password: PASSWORD, name: 'B' } };
  const [deletion, ...signUps] = await Promise.all([
    running.deleteAccount(ada),
    ...Array.from({ length: 5 }, () => running.send(SIGN_UP_PLAIN, again)),
  ]);
  expect(codeOf(deletion)).toBeUndefined();
  for (const result of signUps) expect([undefined, 'CONFLICT']).toContain(codeOf(result));
  const accounts = await running.query('select id from accounts');
  expect(accounts.length).toBeLessThanOrEqual(1);
  expect(accounts).not.toContainEqual({ id: ada.userId });
});

import { hashPersonalToken } from '@taskmesh/identity';
import { STORE_TABLES } from '@taskmesh/internal-api';
import { connectClient, createRestoredDatabase, createTestDatabase, eventually } from '@taskmesh/testing';
import type { TestDatabase } from '@taskmesh/testing';
import { setTimeout } from 'node:timers/promises';
import { FIND_COSTLIEST_BCRYPT_HASH } from '../src/accounts/account.statements.ts';
import { emailKey } from '../src/accounts/email-key.ts';
import { COST } from '../src/passwords/hasher.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';
import { codeOf, tokenOf, type NewToken, type OpenSession } from './support/operations.ts';
import { ARCHIVED, archiveOf, backupOf, restoredAccount, RESTORED_ACCOUNTS, swap } from './support/restored.ts';
import { hash } from 'bcrypt';
import { readFileSync } from 'node:fs';

/** A hash with the current parameters that no password matches. */
const NO_PASSWORD = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/;
/** A schema before PostgreSQL's own in the search path, which redefines its tables and functions. */
const HOSTILE_NAMES = `
  create schema evil;
  create table evil.pg_class as select * from pg_class limit 0;
  create table evil.pg_attribute as select attrelid, attname, atttypid, attnum, attisdropped, attgenerated from pg_attribute limit 0;
  create table evil.accounts (id int);
  create function evil.pg_input_is_valid(text, text) returns boolean language sql as 'select false';
  create function evil.char_length(text) returns int language sql as 'select 99999';
  do $$ begin execute format('alter database %I set search_path = evil, pg_catalog, public', current_database()); end $$;`;

/** Too long for an index, because it does not compress. */
const INCOMPRESSIBLE = `select string_agg(md5(n::text), '') from generate_series(1, 400) n`;
const ID = `'01890000-0000-7000-8000-000000000001'`;

const running = useAuth({ hashCost: COST }); // an import does not keep cheaper hashes

describe('a restored database', () => {
  let loaded: TestDatabase;

  async function importDatabase(statements: string) {
    loaded = await createRestoredDatabase(statements);
    return running.auth.restore.importDatabase(loaded.name);
  }

  it('becomes a store with the same accounts, also those with non-ASCII addresses, and nothing else', async () => {
    const emails = ['ÄÖÜ@Beispiel.test', 'ΟΔΟΣ@example.test', 'I\u0307@example.test', 'e\u0301@example.test'];
    const foreign = emails.map((email) => restoredAccount({ email: `'${email}'`, email_key: `'${emailKey(email)}'` }));
    const rows = [restoredAccount({ password_version: '4' }), ...foreign].join('');
    const others = 'create table restored.invoices (id int); create table restored.sessions (id int);';
    const result = await importDatabase(RESTORED_ACCOUNTS + rows + others);
    expect(result).toEqual({ complete: true, rows: { accounts: 5 }, dropped: ['invoices'] });
    const changed = 'select email, email_key, password_version from accounts where password_version > 1';
    const row = { email: 'Somebody@Example.test', email_key: 'somebody@example.test', password_version: 4 };
    expect(await loaded.query(changed)).toEqual([row]);
    expect(await loaded.query(`select to_regnamespace('restored') as schema`)).toEqual([{ schema: null }]);
    const structure = `select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'public' order by 1, 2`;
    expect(await loaded.query(structure)).toEqual(await running.query(structure));
    // A closed session, also the test's own, is listed until its process has ended.
    const connections = () => running.query('select 1 from pg_stat_activity where datname = $1', [loaded.name]);
    await eventually(async () => expect(await connections()).toEqual([]));
  });

  it('is compared with the live store: which accounts would be removed or restored, and how many sessions would end', async () => {
    await running.signUp('stays@compare.test');
    const { userId } = await running.signUp('goes@compare.test');
    await running.logIn('goes@compare.test');
    loaded = await backupOf(running);
    await loaded.query(`delete from restored.accounts where id = '${userId}'; ${restoredAccount()}`);
    expect(await running.auth.restore.importDatabase(loaded.name)).toMatchObject({ complete: true });
    const state = async () => running.query('select * from accounts, sessions order by 1, 2');
    const before = await state();
    const { now } = (await running.query('select count(*)::int as now from accounts'))[0] as { now: number };
    expect(await running.auth.restore.compare(loaded.name)).toMatchObject({
      tables: { accounts: { now, after: now }, audit_log: { now: expect.any(Number), after: expect.any(Number) } },
      accounts: { now, after: now, gone: 1, back: 1, sessionsEnding: 2 },
    });
    expect(await state()).toEqual(before);
  });

  it.each([
    ['a dump', undefined],
    ['an archive, also those that an earlier release has imported', ARCHIVED],
  ])('keeps hashes with our parameters and bcrypt hashes of %s, and no other password', async (_of, archived) => {
    const argon2 = (head: string, salt = 22, length = 43) => `$argon2${head}$${'s'.repeat(salt)}$${'h'.repeat(length)}`;
    const bcrypt = (head: string) => `${head}vwcJ89neRBeNRktthxo58.7c8RDECMZI9gVkRUWJRCYibOlmpVZcq`;
    const cost = 'id$v=19$m=19456,t=2,p=1';
    const similar = ['m=47104,t=1,p=1', 'm=7168,t=5,p=1', 'm=65536,t=2,p=4'].map((other) => argon2(`id$v=19$${other}`));
    const kept = [
      ...[argon2(cost), argon2(cost, 6, 128), argon2(cost, 128, 6)],
      ...['$2a$12$', '$2b$10$', '$2y$04$'].map(bcrypt),
      ...(archived ? similar : []),
    ];
    const replaced = [
      ...['id$v=19$m=19456,t=3000,p=1', 'id$v=19$m=19456,t=99,p=1', 'id$v=19$m=999999,t=1,p=1'],
      ...['id$v=19$m=999999,t=999999,p=1', 'id$v=19$m=65537,t=1,p=1', 'id$v=19$m=4294967295,t=1,p=1'],
      ...['id$v=19$m=19456,t=2,p=64', 'id$v=19$m=8,t=1,p=1', 'id$v=16$m=19456,t=2,p=1', 'i$v=19$m=19456,t=2,p=1'],
      ...['d$v=19$m=19456,t=2,p=1', 'id$nonsense$m=19456,t=2,p=1'],
    ].map((head) => argon2(head));
    replaced.push(argon2(cost, 5), argon2(cost, 22, 5), argon2(cost, 129), argon2(cost, 22, 129));
    replaced.push(
      ...['$2b$03$', '$2b$13$', '$2x$10$'].map(bcrypt),
      `${bcrypt('$2b$10$')}.`,
      'secret',
      'pbkdf2_sha256$1$a$b',
      `${'0'.repeat(64)}$${'f'.repeat(1_024)}`,
      ...(archived ? [] : similar),
    );
    const rows = [...kept, ...replaced].map((hash, index) => {
      const email = `'n${index}@example.test'`;
      const columns = { name: `left('${hash}', 255)`, email, email_key: email, password_hash: `'${hash}'` };
      return restoredAccount({ ...columns, ...(archived && { has_password: 'true' }) });
    });
    loaded = archived ? await archiveOf(running) : await createRestoredDatabase(RESTORED_ACCOUNTS);
    await loaded.query(rows.join(''));
    const result = await running.auth.restore.importDatabase(loaded.name, archived);
    expect(result).toMatchObject({ complete: true, rows: { accounts: rows.length } });
    expect(await loaded.query(FIND_COSTLIEST_BCRYPT_HASH.text)).toEqual([{ passwordHash: bcrypt('$2a$12$') }]);
    const stored = await loaded.query('select name, password_hash as hash, has_password as has from accounts');
    const without = { hash: expect.stringMatching(NO_PASSWORD), has: false };
    const expected = [
      ...kept.map((hash) => [hash, { hash, has: true }] as const),
      ...replaced.map((hash) => [hash.slice(0, 255), without] as const),
    ];
    expect(new Map(stored.map(({ name, hash, has }) => [name, { hash, has }]))).toEqual(
      new Map<string, object>(expected),
    );
    // Estonian has z before y. An operator may have written a hash that is too expensive to verify.
    await loaded.query(`
      alter table accounts alter password_hash type text collate "et-x-icu";
      update accounts set password_hash = replace(replace(password_hash, '$2a$12', '$2y$12'), '$2b$10', '$2a$16')`);
    expect(await loaded.query(FIND_COSTLIEST_BCRYPT_HASH.text)).toEqual([{ passwordHash: bcrypt('$2y$12$') }]);
  });

  it('is rejected for each rule that one of its accounts breaks', async () => {
    loaded = await createRestoredDatabase(RESTORED_ACCOUNTS);
    const broken: [string, ...Record<string, string>[]][] = [
      ['email is an', { email: `'unknown'`, email_key: `'unknown'` }],
      ['email is an', { email: `'a@b@c'`, email_key: `'a@b@c'` }],
      ...['<a@c>', 'a@c>', 'a<b@c'].map((a): [string, Record<string, string>] => [
        'email is an',
        { email: `'${a}'`, email_key: `'${a}'` },
      ]),
      ['email is an', { email: `'a b@c'`, email_key: `'a b@c'` }],
      ['email is an', { email: `U&'a\\00A0@c'`, email_key: `U&'a\\00A0@c'` }],
      ['email is an', { email: `U&'a\\0007@c'`, email_key: `U&'a\\0007@c'` }],
      ['email is needed', { email: 'null' }],
      ['email_key is made', { email_key: `'somebody.else@example.test'` }],
      ['email_key is made', { email: `'Ä@example.test'`, email_key: `'Ä@example.test'` }],
      ['made from email (violated by 1 row)', { email: `'Ä@example.test'`, email_key: `repeat('x', 1025)` }],
      ['name', { name: `' '` }],
      ['name', { name: `repeat('x', 256)` }],
      ['a password_hash', { password_hash: `'$2' || (${INCOMPRESSIBLE})` }],
      ['id is needed', { id: 'null' }],
      ['created_at', { created_at: `'infinity'` }],
      ['same', {}, {}],
      ['same', { id: ID }, { id: ID, email: `'b@example.test'`, email_key: `'b@example.test'` }],
    ];
    for (const [sentence, ...rows] of broken) {
      await loaded.query(`delete from restored.accounts; ${rows.map(restoredAccount).join('')}`);
      const result = await running.auth.restore.importDatabase(loaded.name);
      expect([rows, result]).toEqual([rows, { complete: false, reason: expect.stringContaining(sentence) }]);
    }
    expect(await loaded.query('select count(*)::int as n from public.accounts')).toEqual([{ n: 0 }]);
  });
});

describe('a restore of the accounts', () => {
  const trail = () => running.query('select * from audit_log order by id');
  const restore = async (backup: TestDatabase) => {
    await running.auth.restore.importDatabase(backup.name);
    await swap(running, backup.name);
  };

  it('keeps active sessions and tokens, keeps ended ones ended, and removes the accounts created since', async () => {
    const isUsable = async ({ token }: NewToken) =>
      (await running.auth.internal.findPersonalToken(hashPersonalToken(token))) !== null;
    const kept = await running.signUp('kept@example.test');
    const loggedOut = await running.logIn('kept@example.test');
    const createToken = async (owner: OpenSession) => tokenOf(await running.createToken(owner));
    const [keptToken, endedToken] = [await createToken(kept), await createToken(kept)];
    const backup = await backupOf(running);
    await running.logOut(loggedOut.identity);
    await running.endToken(kept, endedToken.personalToken.id);
    const later = await running.logIn('kept@example.test');
    const gone = await running.signUp('gone@example.test');
    const goneToken = await createToken(gone);
    const before = await running.auth.internal.endedSessions(0);
    await restore(backup);

    expect((await running.me(kept.identity)).data?.me).toMatchObject({ email: 'kept@example.test' });
    expect(codeOf(await running.refresh(later.refreshToken))).toBeUndefined();
    expect(codeOf(await running.refresh(loggedOut.refreshToken))).toBe('UNAUTHENTICATED');
    expect(codeOf(await running.refresh(gone.refreshToken))).toBe('UNAUTHENTICATED');
    expect(codeOf(await running.tryLogIn('gone@example.test'))).toBe('UNAUTHENTICATED');
    await running.logIn('kept@example.test');
    expect(await Promise.all([keptToken, endedToken, goneToken].map(isUsable))).toEqual([true, false, false]);

    const after = await running.auth.internal.endedSessions(before.last);
    const ended = [loggedOut.sessionId, endedToken.personalToken.id];
    expect(before.sessions.map(({ sessionId }) => sessionId)).toEqual(ended);
    expect((await running.auth.internal.endedSessions(0)).sessions).toEqual([...before.sessions, ...after.sessions]);
    const endedNow = [
      { sequence: before.last + 1, sessionId: gone.sessionId },
      { sequence: before.last + 2, sessionId: goneToken.personalToken.id },
    ];
    expect(after).toMatchObject({ last: before.last + 2, sessions: endedNow });
  });

  it('keeps mailed tokens and queued mails of remaining accounts', async () => {
    const ada = await running.signUp('ada@example.test');
    await running.signUp('bob@example.test');
    const backup = await backupOf(running);
    const gone = await running.signUp('gone@example.test');
    await running.requestEmail(ada, 'new@example.test');
    await running.requestEmail(gone, 'never@example.test');
    const resetToken = await running.mailedToken('bob@example.test');
    const token = await running.tokenFor('new@example.test');
    running.postbox.failure = new Error('The post is closed.');
    await running.requestEmail(gone, 'later@example.test');
    await running.requestReset('bob@example.test');
    await restore(backup);

    await running.auth.processAll(); // a mail in progress when the clock passes its lease would be sent twice
    running.postbox.failure = undefined;
    running.clock.advance(600_000);
    await running.auth.processAll();
    expect(running.postbox.mails.slice(3).map(({ to }) => to)).toEqual(['bob@example.test']);
    expect(codeOf(await running.confirmEmail(token, PASSWORD))).toBeUndefined();
    await running.auth.processAll();
    expect(running.postbox.mails.at(-1)?.to).toBe('ada@example.test');
    expect(codeOf(await running.resetPassword(resetToken, 'another battery staple'))).toBeUndefined();
  });

  it('can be undone: the former accounts are back, and sessions that ended since stay ended', async () => {
    const someone = await running.signUp('someone@example.test');
    const backup = await backupOf(running);
    const later = await running.signUp('later@example.test');
    await running.auth.restore.importDatabase(backup.name);
    const old = await swap(running, backup.name);
    await running.logOut(someone.identity);
    const again = await running.logIn('someone@example.test');
    const before = await trail();

    await running.auth.restore.resume(old);
    await swap(running, old);
    await running.logIn('later@example.test');
    for (const { refreshToken } of [someone, later])
      expect(codeOf(await running.refresh(refreshToken))).toBe('UNAUTHENTICATED');
    expect(codeOf(await running.refresh(again.refreshToken))).toBeUndefined();
    expect((await trail()).slice(0, before.length)).toEqual(before);
    const { sessions } = await running.auth.internal.endedSessions(0);
    expect(sessions.map(({ sequence }) => sequence)).toEqual(sessions.map((_session, index) => index + 1));
  });
});

describe('an archive of the accounts', () => {
  const EARLIER = { schemaVersion: '0013-refresh-keys', allowsLoss: true };
  const FACTS = 'select at, kind, account_id, request_id from audit_log order by id';
  const facts = async () => (await running.query(FACTS)).map((fact) => JSON.stringify(fact));
  /** Links identities of these subjects to the only account. */
  const linkAll = (...subjects: string[]) =>
    running.query(
      `insert into linked_identities select gen_random_uuid(), id, 'https://issuer.test', unnest($1::text[]), email, $2, $2
       from accounts`,
      [subjects, new Date(running.clock.now())],
    );
  const forget = (which: string) =>
    running.query(`begin; set local taskmesh.audit_housekeeping = 'on'; delete from audit_log where ${which}; commit`);
  const restoreArchive = async (archive: TestDatabase) => {
    const result = await running.auth.restore.importDatabase(archive.name, ARCHIVED);
    await swap(running, archive.name);
    return result;
  };

  it('restores its audit trail in a new installation, before the entries of that installation, with any date format', async () => {
    await running.signUp('audited@example.test');
    await running.logIn('audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await forget('true');
    running.clock.advance(60_000);
    await running.query('truncate accounts cascade');
    await running.signUp('operator@example.test');
    const own = await facts();
    await running.query(`alter database ${running.database.name} set datestyle = 'German'`);
    expect(await restoreArchive(archive)).toMatchObject({ complete: true, rows: { audit_log: archived.length } });
    expect(await facts()).toEqual([...archived, ...own]);
    await running.logIn('audited@example.test');
    expect((await facts()).slice(0, -1)).toEqual([...archived, ...own]);
    await expect(running.query('delete from audit_log')).rejects.toThrow('only grows');
  });

  it('restores its trail where there is none, without entries from the future; later entries follow, even if it has the last possible id', async () => {
    await running.signUp('audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    // It would never be deleted, and would keep later ones.
    await archive.query(
      `insert into restored.audit_log (id, at, kind, request_id) values (-1, '9000-01-01T00:00Z', 'login.failed', 'r');
       update restored.audit_log set id = ${2n ** 63n - 1n} where id > 0`,
    );
    await forget('true');
    await running.auth.restore.importDatabase(archive.name, ARCHIVED);
    expect(await archive.query('select id from audit_log')).toEqual([{ id: '0' }]);
    await running.logIn('audited@example.test');
    const [later] = await facts();
    await swap(running, archive.name);
    await running.logIn('audited@example.test');
    expect(await facts()).toEqual([...archived, later, expect.stringContaining('session.opened')]);
  });

  it('does not wait for writers of the trail before the swap, and loses none of their entries', async () => {
    await running.signUp('audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await forget('true');
    const writer = await connectClient(running.database.url);
    await writer.query(`begin; insert into audit_log (at, kind, request_id) values (now(), 'login.failed', 'first')`);
    await running.logIn('audited@example.test');
    const [later] = await facts();
    await running.auth.restore.importDatabase(archive.name, ARCHIVED).finally(() => writer.query('commit'));
    const { audit_log } = (await running.auth.restore.compare(archive.name)).tables;
    expect(audit_log).toEqual({ now: 2, after: archived.length + 2 });
    await writer.query(`begin; insert into audit_log (at, kind, request_id) values (now(), 'login.failed', 'last')`);
    const ahead = running.auth.restore.carryOverAhead(archive.name);
    await setTimeout(1_000); // longer than it waits for the lock at once
    await writer.query('commit');
    await ahead;
    await swap(running, archive.name);
    const [first, last] = ['first', 'last'].map((id) => expect.stringContaining(id) as string);
    expect(await facts()).toEqual([...archived, first, later, last]);
  });

  it('duplicates no entry of the trail, and restores entries that the live one has deleted', async () => {
    await running.signUp('audited@example.test');
    running.clock.advance(60_000);
    await running.logIn('audited@example.test');
    const archive = await archiveOf(running);
    const second = await archiveOf(running);
    running.clock.advance(60_000);
    await running.logIn('audited@example.test');
    const all = await facts();
    await restoreArchive(archive);
    expect(await facts()).toEqual(all);
    await forget('id in (select id from audit_log order by id limit 1)');
    await restoreArchive(second);
    expect(await facts()).toEqual(all);
  });

  it('restores linked identities, except those unlinked since', async () => {
    const { userId } = await running.signUp('linked@example.test');
    await linkAll('stays', 'unlinked', 'lost');
    const [first, second] = [await archiveOf(running), await archiveOf(running)];
    const subjects = async () =>
      (await running.query('select subject from linked_identities order by subject')).map(({ subject }) => subject);
    await running.query(`delete from linked_identities where subject = 'lost'`);
    await restoreArchive(first);
    expect(await subjects()).toEqual(['lost', 'stays', 'unlinked']);
    running.clock.advance(1_000);
    await running.query(`delete from linked_identities where subject = 'unlinked'`);
    const unlinked = `insert into audit_log (at, kind, account_id, request_id) values ($1, 'identity.unlinked', $2, 'r')`;
    await running.query(unlinked, [new Date(running.clock.now()), userId]);
    await restoreArchive(second);
    expect(await subjects()).toEqual(['lost', 'stays']);
  });

  it('restores no linked identity that may have been unlinked before the live trail begins', async () => {
    await running.signUp('cleared@example.test');
    await linkAll('unlinked');
    const archive = await archiveOf(running);
    await running.query('delete from linked_identities');
    await forget('true');
    running.clock.advance(60_000);
    await running.logIn('cleared@example.test');
    await restoreArchive(archive);
    expect(await running.query('select subject from linked_identities')).toEqual([]);
  });

  it('is rejected for each text that is longer than ours, and each time beyond our years, in any table', async () => {
    await running.signUp('long@example.test');
    await linkAll('long');
    await running.query(`insert into account_log values (1, gen_random_uuid(), 'DELETED', now())`);
    const columns = await running.query(
      `select table_name as table, column_name as name, data_type as type from information_schema.columns
       where table_schema = 'public' and (data_type = 'text' or data_type ~ '^timestamp') and table_name = any($1)
         and table_name || column_name not in ('account_logkind', 'accountspassword_hash') -- has a constraint; is replaced`,
      [Object.keys(STORE_TABLES.auth).filter((table) => STORE_TABLES.auth[table]?.archived === 'rows')],
    );
    expect(columns).toHaveLength(17);
    const times = [`'infinity'`, `'-infinity'`, `'294276-12-31'`];
    for (const [table, own] of Map.groupBy(columns, (column) => String(column.table))) {
      const archive = await archiveOf(running);
      const valueOf = (type: unknown, index: number) => (type === 'text' ? `repeat('x', 1025)` : times[index % 3]);
      const wrong = own.map(({ name, type }, index) => `${String(name)} = ${valueOf(type, index)}`);
      await archive.query(`update restored.${table} set ${wrong.join(', ')}`);
      const result = await running.auth.restore.importDatabase(archive.name, ARCHIVED);
      const reasons = own.map(({ name }) => expect.stringMatching(`${table} break.*[:;] ${String(name)} `) as string);
      for (const reason of reasons) expect(result).toEqual({ complete: false, reason });
    }
  });

  it.each([
    ['an index', 'email_key = ', ARCHIVED, 'Rows of the table accounts break the rules of their store.'],
    ['an index of a later version', `password_hash = '$2' || `, EARLIER, 'Rows break the rules of their store.'],
  ])('is rejected for a text for which %s has no room', async (_which, change, archived, reason) => {
    await running.signUp('long@example.test');
    const archive = await archiveOf(running);
    await archive.query(`update restored.accounts set ${change} (${INCOMPRESSIBLE})`);
    const { schemaVersion } = archived;
    await archive.query('delete from restored.mikro_orm_migrations where name > $1', [schemaVersion]);
    expect(await running.auth.restore.importDatabase(archive.name, archived)).toEqual({ complete: false, reason });
  });

  it('is validated by the same rules, regardless of the search_path of the restored database', async () => {
    await running.signUp('same@example.test');
    for (const archived of [ARCHIVED, undefined]) {
      const archive = await archiveOf(running);
      await archive.query(HOSTILE_NAMES);
      const result = await running.auth.restore.importDatabase(archive.name, archived);
      expect(result).toMatchObject({ complete: true, rows: { accounts: 1 } });
    }
  });
});

const statementFor = (system: string) =>
  readFileSync(new URL(`../../../docs/examples/accounts/${system}.sql`, import.meta.url), 'utf8');

const SUPABASE_USERS = `
  create schema auth;
  create table auth.users (
    id uuid, email varchar(255), encrypted_password varchar(255), email_confirmed_at timestamptz, deleted_at timestamptz,
    banned_until timestamptz, raw_user_meta_data jsonb, created_at timestamptz, updated_at timestamptz
  );
  insert into auth.users values
    (gen_random_uuid(), 'Ada@Example.com', 'BCRYPT', now(), null, null, '{"name": "Ada"}', now(), null),
    (gen_random_uuid(), 'bob@example.com', null, null, null, now(), '{"name": "\\u000b\\u00a0\\u200b\\ufeff"}', now(), now()),
    (gen_random_uuid(), 'cy@example.com', null, null, null, null, jsonb_build_object('name', repeat('c', 300)), now(), now()),
    (gen_random_uuid(), 'dan@example.com', null, null, null, now() + '1 day', '{}', now(), now())`;

const DJANGO_USERS = `
  create table auth_user (
    id serial, password varchar(128), username varchar(150), first_name varchar(150), last_name varchar(150),
    email varchar(254), is_active boolean, date_joined timestamptz
  );
  insert into auth_user (password, username, first_name, last_name, email, is_active, date_joined) values
    ('bcrypt$BCRYPT', 'ada', 'Ada', '', 'Ada@Example.com', true, now()),
    ('pbkdf2_sha256$870000$c2FsdA$aGFzaA=', 'bob', E'\\u000b\\u00a0', E'\\u3000\\u200b', 'bob@example.com', true, now()),
    ('!', 'cy', repeat('c', 150), repeat('c', 150), 'cy@example.com', true, now())`;

it.each([
  ['supabase', SUPABASE_USERS, '$2a$'],
  ['django', DJANGO_USERS, '$2b$'],
])('moves the accounts of %s as the guide describes, with bcrypt passwords', async (system, users, variant) => {
  const other = await createTestDatabase('auth_moved');
  const bcrypt = (await hash(PASSWORD, 10)).replace('$2b$', () => variant);
  await other.query(users.replace('BCRYPT', () => bcrypt));
  await other.query(statementFor(system));
  // Supabase serves what is in public to everybody, but for tables with row level security.
  const secured = await other.query(`select relrowsecurity as is from pg_class where oid = 'accounts'::regclass`);
  expect(secured).toEqual([{ is: system === 'supabase' }]);
  // The table as backup's loader leaves it.
  await other.query('create schema restored; alter table accounts set schema restored');
  const result = await running.auth.restore.importDatabase(other.name);
  expect(result).toMatchObject({ complete: true, rows: { accounts: 3 } });
  await swap(running, other.name);

  await running.logIn('ada@example.com');
  const accounts = 'select email, name, has_password, left(password_hash, 9) as kind from accounts order by email';
  await eventually(async () =>
    expect(await running.query(accounts)).toEqual([
      { email: 'Ada@Example.com', name: 'Ada', has_password: true, kind: '$argon2id' },
      { email: 'bob@example.com', name: 'bob', has_password: false, kind: '$argon2id' },
      { email: 'cy@example.com', name: expect.stringMatching(/^c[c ]{254}$/), has_password: false, kind: '$argon2id' },
    ]),
  );
  await running.logIn('ada@example.com');
  expect(codeOf(await running.tryLogIn('bob@example.com'))).toBe('UNAUTHENTICATED');
});

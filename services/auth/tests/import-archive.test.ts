import { COST } from '../src/passwords/hasher.ts';
import { codeOf, loggedIn, LOGIN, signedUp } from './support/operations.ts';
import { ARCHIVED, archiveOf, dropDatabase, swap, type RestoredDatabase } from './support/restored.ts';
import { PASSWORD, runAuth, type RunningAuth } from './support/running-auth.ts';

/** A schema ahead of PostgreSQL's own, in which nothing is what it seems. */
const HOSTILE_NAMES = `
  create schema evil;
  create table evil.pg_class as select * from pg_class limit 0;
  create table evil.pg_attribute as select attrelid, attname, atttypid, attnum, attisdropped, attgenerated from pg_attribute limit 0;
  create table evil.accounts (id int);
  create function evil.pg_input_is_valid(text, text) returns boolean language sql as 'select false';
  create function evil.char_length(text) returns int language sql as 'select 99999';
  do $$ begin execute format('alter database %I set search_path = evil, pg_catalog, public', current_database()); end $$;`;

describe('an archive of the accounts', () => {
  let running: RunningAuth;
  const olds: string[] = [];

  beforeAll(async () => {
    running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' }, hashCost: COST }); // an import keeps no cheaper ones
  });
  beforeEach(() => running.reset());
  afterAll(async () => {
    await running.stop();
    for (const old of olds) await dropDatabase(old);
  });

  const facts = async () =>
    (await running.database.query('select at, kind, account_id, request_id from audit_log order by id')).map((fact) =>
      JSON.stringify(fact),
    );
  const forget = (which: string) =>
    running.database.query(
      `begin; set local taskmesh.audit_housekeeping = 'on'; delete from audit_log where ${which}; commit`,
    );
  const restoreArchive = async (archive: RestoredDatabase) => {
    const result = await running.auth.restore.importDatabase(archive.name, ARCHIVED);
    olds.push(await swap(running, archive.name));
    return result;
  };

  it('brings the audit trail of an archive back into a new installation, before what that one has itself', async () => {
    await signedUp(running, 'audited@example.test');
    await loggedIn(running, 'audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await forget('true');
    running.clock.advance(60_000);
    await running.database.query('truncate accounts cascade');
    await signedUp(running, 'operator@example.test');
    const own = await facts();
    expect(await restoreArchive(archive)).toMatchObject({ complete: true, rows: { audit_log: archived.length } });
    expect(await facts()).toEqual([...archived, ...own]);
    await loggedIn(running, 'audited@example.test');
    expect((await facts()).slice(0, -1)).toEqual([...archived, ...own]);
    await expect(running.database.query('delete from audit_log')).rejects.toThrow('only grows');
  });

  it('brings it back where there is none at all, and entries that come before the swap follow on it', async () => {
    await signedUp(running, 'audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await forget('true');
    await running.auth.restore.importDatabase(archive.name, ARCHIVED);
    await loggedIn(running, 'audited@example.test');
    const [later] = await facts();
    olds.push(await swap(running, archive.name));
    expect(await facts()).toEqual([...archived, later]);
  });

  it('repeats no entry of the trail, and restores those that the live one has deleted', async () => {
    await signedUp(running, 'audited@example.test');
    running.clock.advance(60_000);
    await loggedIn(running, 'audited@example.test');
    const archive = await archiveOf(running);
    const second = await archiveOf(running);
    running.clock.advance(60_000);
    await loggedIn(running, 'audited@example.test');
    const all = await facts();
    await restoreArchive(archive);
    expect(await facts()).toEqual(all);
    await forget('id in (select id from audit_log order by id limit 1)');
    await restoreArchive(second);
    expect(await facts()).toEqual(all);
  });

  it('finds where the live trail begins, however its database writes dates', async () => {
    await signedUp(running, 'audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await forget('true');
    running.clock.advance(60_000);
    await loggedIn(running, 'audited@example.test');
    const own = await facts();
    await running.database.query(
      `do $$ begin execute format('alter database %I set datestyle = ''German''', current_database()); end $$;`,
    );
    expect(await restoreArchive(archive)).toMatchObject({ complete: true });
    expect(await facts()).toEqual([...archived, ...own]);
  });

  it.each(['-infinity', '294276-12-31'])(
    'is refused when an entry of the trail is of a time that is none: %s',
    async (at) => {
      await signedUp(running, 'audited@example.test');
      const archive = await archiveOf(running);
      await archive.query(`update restored.audit_log set at = '${at}'`);
      expect(await running.auth.restore.importDatabase(archive.name, ARCHIVED)).toEqual({
        complete: false,
        reason: expect.stringMatching(/^Rows of the table audit_log break the rules: at is in the years 0001 to 9999/),
      });
      await dropDatabase(archive.name);
    },
  );

  it('leaves out what the trail says of the future: it would never be cleared, and keep what is behind it', async () => {
    await signedUp(running, 'audited@example.test');
    const archived = await facts();
    const archive = await archiveOf(running);
    await archive.query(
      `insert into restored.audit_log (id, at, kind, request_id) values (-1, '9000-01-01T00:00Z', 'login.failed', 'r')`,
    );
    await forget('true');
    await restoreArchive(archive);
    expect(await facts()).toEqual(archived);
  });

  it('takes an account of an archive without its password when checking that would cost too much', async () => {
    await signedUp(running, 'slow@example.test');
    const archive = await archiveOf(running);
    await archive.query(`update restored.accounts set password_hash = replace(password_hash, 't=2', 't=99')`);
    await restoreArchive(archive);
    const login = await running.send(LOGIN, { input: { email: 'slow@example.test', password: PASSWORD } });
    expect(codeOf(login)).toBe('UNAUTHENTICATED');
    expect(await running.database.query(`select 1 from accounts where password_hash like '%t=99%'`)).toEqual([]);
  });

  it.each([
    ['email_key is made', `email_key = 'other@example.test'`],
    ['email is an', `email = 'unknown', email_key = 'unknown'`],
    ['password_version is', 'password_version = 2147483647'],
    ['Rows of the table accounts', `name = null`],
  ])('is refused when an account of an archive breaks the rule: %s', async (sentence, change) => {
    await signedUp(running, 'broken@example.test');
    const archive = await archiveOf(running);
    await archive.query(`update restored.accounts set ${change}`);
    expect(await running.auth.restore.importDatabase(archive.name, ARCHIVED)).toEqual({
      complete: false,
      reason: expect.stringContaining(sentence),
    });
    await dropDatabase(archive.name);
  });

  it('brings linked identities back, but none that was unlinked since', async () => {
    const { userId } = await signedUp(running, 'linked@example.test');
    for (const subject of ['stays', 'unlinked', 'lost'])
      await running.database.query(
        `insert into linked_identities select gen_random_uuid(), id, 'https://issuer.test', $1::text, email, $2, $2
         from accounts`,
        [subject, new Date(running.clock.now())],
      );
    const archives = [await archiveOf(running), await archiveOf(running)];
    const subjects = async () =>
      (await running.database.query('select subject from linked_identities order by subject')).map(
        (row) => row.subject,
      );
    await running.database.query(`delete from linked_identities where subject = 'lost'`);
    await restoreArchive(archives[0] as RestoredDatabase);
    expect(await subjects()).toEqual(['lost', 'stays', 'unlinked']);
    running.clock.advance(1_000);
    await running.database.query(`delete from linked_identities where subject = 'unlinked'`);
    await running.database.query(
      `insert into audit_log (at, kind, account_id, request_id) values ($1, 'identity.unlinked', $2, 'r')`,
      [new Date(running.clock.now()), userId],
    );
    await running.auth.restore.importDatabase((archives[1] as RestoredDatabase).name, ARCHIVED);
    olds.push(await swap(running, (archives[1] as RestoredDatabase).name));
    expect(await subjects()).toEqual(['lost', 'stays']);
  });

  it('brings no linked identity back that may have been unlinked before the live trail begins', async () => {
    await signedUp(running, 'cleared@example.test');
    await running.database.query(
      `insert into linked_identities select gen_random_uuid(), id, 'https://issuer.test', 'unlinked', email, $1, $1
       from accounts`,
      [new Date(running.clock.now())],
    );
    const archive = await archiveOf(running);
    await running.database.query('delete from linked_identities');
    await forget('true');
    running.clock.advance(60_000);
    await loggedIn(running, 'cleared@example.test');
    await running.auth.restore.importDatabase(archive.name, ARCHIVED);
    olds.push(await swap(running, archive.name));
    expect(await running.database.query('select subject from linked_identities')).toEqual([]);
  });

  it('is validated by the same rules, independent of the search_path of the restored database', async () => {
    await signedUp(running, 'same@example.test');
    for (const archived of [ARCHIVED, undefined]) {
      const archive = await archiveOf(running);
      await archive.query(HOSTILE_NAMES);
      expect(await running.auth.restore.importDatabase(archive.name, archived)).toMatchObject({
        complete: true,
        rows: { accounts: 1 },
      });
      await dropDatabase(archive.name);
    }
  });
});

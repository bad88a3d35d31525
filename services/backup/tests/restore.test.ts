import { asUnavailable } from '@taskmesh/store';
import { unavailable } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import type { StoreOwner } from '../src/index.ts';
import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  restoreWith,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

let fixture: BackupFixture;

beforeAll(async () => {
  fixture = await createBackupFixture('restore');
});
afterAll(() => fixture.close());

const titles = async () => (await fixture.tasks.query('select title from tasks order by id')).map(({ title }) => title);
const LIVING = `insert into tasks values ('11111111-1111-7111-8111-111111111111', 'living')`;

beforeEach(async () => {
  await fixture.tasks.query(`truncate tasks; ${LIVING}`);
  await fixture.auth.query('truncate accounts cascade');
});

afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
});

const NOT_RESTORED = { success: false, databaseRestored: false };

describe('the rules of a restore', () => {
  it('1: a file must be named', async () => {
    expect(await fixture.restore('')).toMatchObject({
      ...NOT_RESTORED,
      outcome: 'FILE_MISSING',
      error: expect.any(String),
    });
  });

  it('2: a name that leads outside is refused', async () => {
    await symlink('/etc/passwd', join(fixture.config.backupsDir, 'link'));
    for (const file of ['../x.tar.gz', '/etc/passwd', 'link'])
      expect(await fixture.restore(file)).toMatchObject({
        ...NOT_RESTORED,
        outcome: 'FILE_OUTSIDE',
        error: expect.any(String),
      });
  });

  it('3: a file that is not there is refused', async () => {
    expect(await fixture.restore('none.tar.gz')).toMatchObject({
      ...NOT_RESTORED,
      outcome: 'FILE_NOT_FOUND',
      error: expect.any(String),
    });
  });

  it('5: an archive that cannot be extracted is refused, and the stores stay as they were', async () => {
    await writeFile(join(fixture.config.backupsDir, 'bad.tar.gz'), 'this is no archive');
    expect(await fixture.restore('bad.tar.gz')).toMatchObject({
      ...NOT_RESTORED,
      outcome: 'EXTRACTION_FAILED',
      error: expect.stringContaining('gzip'),
    });
    expect(await titles()).toEqual(['living']);
  });

  it('6 and 9: the dump replaces the store', async () => {
    await fixture.archive('good.tar.gz', { 'database.sql': tasksDump(['one', 'two']) });
    expect(await fixture.restore('good.tar.gz')).toEqual({
      success: true,
      message: 'Database restored; the application may need a restart.',
      error: null,
      databaseRestored: true,
      outcome: 'RESTORED',
    });
    expect(await titles()).toEqual(['one', 'two']);
    expect(await fixture.tasks.query('select epoch from feed_state')).toEqual([{ epoch: 2 }]);
  });

  it('6: what the dump holds beside rows is passed over, and reported', async () => {
    const around = `create function f() returns int language sql as 'select 1'; create function g() returns int language sql as 'select 1';
      create view v as select 1; grant all on tasks to public;`;
    await fixture.archive('around.tar.gz', { 'database.sql': tasksDump(['one']) + around });
    const query = 'mutation { restoreBackup(file: "around.tar.gz") { outcome skipped { kind count } } }';
    const run = fixture.backup.subgraph.execute({ query }, { identity: { role: 'operator' }, requestId: 'r' });
    const skipped = [
      { kind: 'function', count: 2 },
      { kind: 'grant', count: 1 },
      { kind: 'view', count: 1 },
    ];
    expect(await run).toMatchObject({ data: { restoreBackup: { outcome: 'RESTORED', skipped } } });
    expect(fixture.logged).toContainEqual(expect.objectContaining({ msg: 'dump loaded', skipped }));
  });

  it.each([
    ['an SQL error', 'selec 1;', 'the dump was not accepted: Line 1: it is no SQL'],
    [
      'a forbidden statement',
      "copy t from program 'ls';",
      'the dump was not accepted: Line 1: COPY is allowed FROM stdin only',
    ],
    ['nothing in it', '', 'the dump does not make a complete store: There is no table tasks'],
    ['another store in it', accountsDump(['a@x']), 'the dump does not make a complete store: There is no table tasks'],
    ['rows that break the rules', tasksDump(['ok!', 'x']), 'the database step failed, see the log'],
    [
      'rows twice',
      `${tasksDump(['one'])}${tasksDump(['one']).split('\n')[1]}`,
      'the database step failed, see the log',
    ],
    [
      'a statement that computes rows',
      `${tasksDump(['one'])}insert into tasks select * from tasks;`,
      'the dump was not accepted: Line 3: INSERT is allowed with VALUES only',
    ],
  ])('7: a dump with %s leaves the store as it was, and the failure in the log', async (_what, dump, why) => {
    await fixture.archive('faulty.tar.gz', { 'database.sql': dump });
    fixture.logged.length = 0;
    expect(await fixture.restore('faulty.tar.gz')).toEqual({
      success: true,
      message: `Archive processed: the database was not restored (${why}). No restart is needed.`,
      error: null,
      databaseRestored: false,
      outcome: 'PROCESSED',
    });
    expect(await titles()).toEqual(['living']);
    expect(fixture.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'database not restored',
        file: 'faulty.tar.gz',
        err: expect.anything(),
      }),
    );
  });

  it('7: so does a server that is away', async () => {
    await fixture.archive('good.tar.gz', { 'database.sql': tasksDump(['one']) });
    const nowhere = 'postgres://postgres@127.0.0.1:1/tasks';
    const adminUrls = { tasks: nowhere, auth: nowhere };
    const other = await fixture.startOther({ secrets: { adminUrls } });
    expect(await restoreWith(other, 'good.tar.gz')).toMatchObject({ success: true, outcome: 'PROCESSED' });
    await other.stop();
    await fixture.own.query(`update restores set ended_at = now() where ended_at is null`); // no server will ever settle it
  });

  it('8: an archive without a dump is processed, and the stores stay as they were', async () => {
    await fixture.archive('notes.tar.gz', { 'notes.txt': 'hello', 'backup/database.sql': tasksDump(['no']) });
    expect(await fixture.restore('notes.tar.gz')).toMatchObject({
      success: true,
      databaseRestored: false,
      outcome: 'PROCESSED',
      message: expect.stringContaining('it holds no database.sql'),
    });
    expect(await titles()).toEqual(['living']);
  });

  it('10: a restore that would wait too long for another one is given up', async () => {
    await fixture.archive('good.tar.gz', { 'database.sql': tasksDump(['one']) });
    const holder = new Pool({ connectionString: fixture.own.url, max: 1 });
    const client = await holder.connect();
    try {
      await client.query(`select pg_advisory_lock(hashtext('taskmesh-restore'))`);
      const begin = performance.now();
      expect(await fixture.restore('good.tar.gz')).toMatchObject({
        ...NOT_RESTORED,
        outcome: 'BUSY',
        error: expect.stringContaining('Another restore is running'),
      });
      expect(performance.now() - begin).toBeLessThan(7_000);
    } finally {
      client.release(true);
      await holder.end();
    }
    expect(await titles()).toEqual(['living']);
  });
});

describe('an archive that was made here', () => {
  it('restores both stores, and keeps the sessions of accounts that are still there', async () => {
    await fixture.auth.query(`insert into accounts values (1, 'a@x'), (2, 'new@x')`);
    await fixture.auth.query(`insert into sessions (account) values (1), (1), (2)`);
    await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) }));
    expect(await fixture.restore('own.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(await titles()).toEqual(['one']);
    expect(await fixture.auth.query('select email from accounts')).toEqual([{ email: 'a@x' }]);
    expect(await fixture.auth.query('select count(*)::int as n from sessions')).toEqual([{ n: 2 }]);
  });

  it('is not loaded when a dump is not what the manifest says', async () => {
    const files = ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) });
    await fixture.archive('own.tar.gz', { ...files, 'auth.sql': accountsDump(['mallory@x']) });
    expect(await fixture.restore('own.tar.gz')).toMatchObject({
      outcome: 'PROCESSED',
      message: expect.stringContaining('auth.sql is not what the manifest says'),
    });
    expect(await titles()).toEqual(['living']);
  });

  it('restores none of the stores when one cannot be', async () => {
    await fixture.auth.query(`insert into accounts values (1, 'a@x')`);
    await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['one']), auth: 'selec;' }));
    expect(await fixture.restore('own.tar.gz')).toMatchObject({ outcome: 'PROCESSED' });
    expect(await titles()).toEqual(['living']);
    expect(await fixture.auth.query('select email from accounts')).toEqual([{ email: 'a@x' }]);
  });
});

describe('around the swap', () => {
  it('writers and readers see short waits only, and no session that was acknowledged is lost', async () => {
    await fixture.auth.query(`insert into accounts values (1, 'a@x')`);
    await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) }));
    const pool = new Pool({ connectionString: fixture.auth.url, max: 4 });
    pool.on('error', () => undefined);
    const acknowledged: string[] = [];
    const failures: string[] = [];
    let stop = false;
    const work = async () => {
      while (!stop) {
        try {
          const { rows } = await pool.query<{ id: string }>('insert into sessions (account) values (1) returning id');
          if (rows[0]) acknowledged.push(rows[0].id);
        } catch (error) {
          if (!asUnavailable(error)) failures.push(String(error));
        }
      }
    };
    const workers = [work(), work(), work()];
    try {
      await eventually(() => acknowledged.length > 20);
      expect(await fixture.restore('own.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
      const before = acknowledged.length;
      await eventually(() => acknowledged.length > before + 20);
    } finally {
      stop = true;
      await Promise.all(workers);
      await pool.end();
    }
    expect(failures).toEqual([]);
    const kept = new Set((await fixture.auth.query('select id from sessions')).map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  it('two restores at once run one after the other', async () => {
    await fixture.archive('a.tar.gz', { 'database.sql': tasksDump(['from a', 'also a']) });
    await fixture.archive('b.tar.gz', { 'database.sql': tasksDump(['from b', 'also b']) });
    const other = await fixture.startOther();
    const results = await Promise.all([
      fixture.restore('a.tar.gz'),
      restoreWith(other, 'b.tar.gz'),
      fixture.restore('a.tar.gz'),
    ]);
    await other.stop();
    for (const { outcome } of results) expect(['RESTORED', 'BUSY']).toContain(outcome);
    expect(results.some(({ outcome }) => outcome === 'RESTORED')).toBe(true);
    expect(new Set((await titles()).map((title) => String(title).slice(-1))).size).toBe(1);
  });

  it('a restore that lost its lock on the way leaves the stores as they were: another one may be running', async () => {
    await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) }));
    const auth: StoreOwner = {
      ...fixture.owners.auth,
      async importDatabase(database) {
        await fixture.own.query(
          `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
        );
        return fixture.owners.auth.importDatabase(database);
      },
    };
    const other = await fixture.startOther({ owners: { ...fixture.owners, auth } });
    expect(await restoreWith(other, 'own.tar.gz')).toMatchObject({ outcome: 'PROCESSED', databaseRestored: false });
    await other.stop();
    expect(await titles()).toEqual(['living']);
  });

  it('a restore says why the service that owns a store cannot import it', async () => {
    await fixture.archive('good.tar.gz', { 'database.sql': tasksDump(['one']) });
    const importDatabase = () => Promise.reject(unavailable('PostgreSQL does not let the user do that.'));
    const other = await fixture.startOther({
      owners: { ...fixture.owners, tasks: { ...fixture.owners.tasks, importDatabase } },
    });
    expect(await restoreWith(other, 'good.tar.gz')).toMatchObject({
      ...{ outcome: 'PROCESSED', databaseRestored: false },
      message: expect.stringContaining('was not restored (PostgreSQL does not let the user do that).'),
    });
    await other.stop();
    expect(await titles()).toEqual(['living']);
  });
});

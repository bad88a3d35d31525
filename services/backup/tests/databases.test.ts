import { openSnapshot } from '@taskmesh/pg-rows';
import { createLog } from '@taskmesh/service';
import { administer, atEnd, connectClient, createProxyFor, createTestDatabase, eventually } from '@taskmesh/testing';
import type { Client } from 'pg';
import { createBackupDatabase } from '../src/database.ts';
import { connectAdmin, maintenanceUrl, withAdmin, withAdmins } from '../src/databases/connect.ts';
import { createFreshDatabase, dropDatabase, dropFresh } from '../src/databases/fresh-database.ts';
import { checkLockers, withWritersLockedOut } from '../src/databases/lock-writers.ts';
import { restoreNames } from '../src/databases/names.ts';
import { createRunLock } from '../src/run-lock.ts';

const IDLE_MS = 400;
const log = createLog({ service: 'test', level: 'silent' });

const store = await createTestDatabase('databases');
const { proxy, url: proxied } = await createProxyFor(store.url);
afterEach(() => proxy.thaw());

const exists = async (name: string) =>
  (await administer('select from pg_database where datname = $1', [name])).length === 1;

it('dropping a database gives up while the database is in use, and drops it later, even if it is a template', async () => {
  const { name, url } = await createTestDatabase('dropped');
  const drop = () => withAdmin(maintenanceUrl(url), (admin) => dropDatabase(admin, name, 200));
  await withAdmin(maintenanceUrl(url), async (holder) => {
    await holder.query(`begin; comment on database ${name} is 'held'`);
    await expect(drop()).rejects.toMatchObject({ code: '55P03' });
    await holder.query('rollback');
    await holder.query(`alter database ${name} is_template true`);
  });
  expect(await exists(name)).toBe(true);
  await drop();
  expect(await exists(name)).toBe(false);
  await drop();
});

it('dropping a database waits while the server is still creating the database for a client that has disconnected', async () => {
  const names = restoreNames(store.name, 'r');
  const limits = { statementTimeoutMs: 1_000, tempFileBytes: 1_048_576 };
  await withAdmin(maintenanceUrl(store.url), async (holder) => {
    await holder.query(`begin; create role ${names.loader}`); // makes the creation wait
    const making = createFreshDatabase(store.url, names, limits).catch((error: unknown) => error);
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'create role%${names.loader}%'`;
    await eventually(async () => expect(await store.query(waiting)).toHaveLength(1));
    await expect(dropFresh(store.url, names, 200)).rejects.toMatchObject({ code: '55P03' });
    await holder.query('rollback');
    await making;
  });
  await dropFresh(store.url, names);
  expect(await exists(names.fresh)).toBe(false);
});

const { username, password, host, hostname, port, pathname } = new URL(store.url);
const login = new URLSearchParams({ user: decodeURIComponent(username), password: decodeURIComponent(password) });

it.each([
  ['the authority', store.url],
  ['the query', `postgres://other:x@${host}${pathname}?${login}`],
  // The driver escapes the whole of a URL with a bare %. It reads the file, although it does not use it.
  [
    'the query, with a bare % in the authority and the path of a file',
    `postgres://other:100%@${host}${pathname}?${login}&sslmode=disable&sslrootcert=${import.meta.filename}`,
  ],
  ['the query, without an authority', `postgres://${pathname}?host=${hostname}&port=${port}&${login}`],
])('a dump is loaded by a role of its own, if the URL has the administrator in %s', async (_where, adminUrl) => {
  const names = restoreNames(store.name, 'own');
  const url = await createFreshDatabase(adminUrl, names, { statementTimeoutMs: 1_000, tempFileBytes: 1_048_576 });
  atEnd(() => dropFresh(adminUrl, names));
  const loader = await connectClient(url);
  expect((await loader.query('select current_user as role')).rows).toEqual([{ role: names.loader }]);
  await loader.end();
  expect(new URL(url)).toMatchObject({ username: '', password: '' });
  expect(new URL(url).searchParams.getAll('password')).not.toContain(login.get('password'));
});

it('a server that stops responding makes its statement fail, and delays neither sessions on other servers nor the end of its own', async () => {
  let pid: number | undefined;
  let failed: Promise<void> | undefined;
  await withAdmins([store.url, proxied], async ([admin]) => {
    pid = (await admin?.query<{ pid: number }>('select pg_backend_pid() as pid'))?.rows[0]?.pid;
    await new Promise<void>((resolve) => {
      const ask = (silent: Client) => {
        proxy.freeze();
        resolve();
        return silent.query('select 1');
      };
      failed = expect(withAdmin(proxied, ask, { timeoutMs: 100 })).rejects.toThrow('Query read timeout');
    });
  });
  expect(await store.query('select 1 from pg_stat_activity where pid = $1', [pid])).toEqual([]);
  await failed;
}, 30_000);

it('keeping writers out ends by itself if we fall silent, which is then detected', async () => {
  const fresh = await createTestDatabase('writers_fresh');
  for (const { query } of [store, fresh]) await query('create table tasks (id int)');
  const writer = await connectClient(store.url, `set lock_timeout = '1s'`);
  const write = () => writer.query('insert into tasks values (2)').then(() => 'written', (error: { code?: string }) => error.code); // prettier-ignore
  const outcomes: unknown[] = [];
  const stopped = withWritersLockedOut(
    new Map([['tasks', { live: proxied, fresh: fresh.url }]]),
    async (lockers) => {
      outcomes.push(await write());
      proxy.freeze();
      await writer.query(`set lock_timeout = '10s'`);
      outcomes.push(await write());
      proxy.thaw();
      await checkLockers(lockers);
    },
    { writersMs: 1_000, idleMs: IDLE_MS },
  );
  await expect(stopped).rejects.toThrow();
  expect(outcomes).toEqual(['55P03', 'written']);
});

it('a dump never runs functions with which the owner of a store shadows those of PostgreSQL', async () => {
  const owned = await createTestDatabase('owned');
  await owned.query(`create schema mine; create function mine.is_same(text, text) returns boolean language plpgsql
        as $$ begin raise exception 'run as %', current_user; end $$;
      create operator mine.= (leftarg = text, rightarg = text, function = mine.is_same);
      alter database ${owned.name} set search_path = mine, pg_catalog`);
  (await openSnapshot(await connectAdmin(owned.url))).close();
});

it('an administrator can change a store that the operator has made read-only until a restore', async () => {
  await store.query(`alter database ${store.name} set default_transaction_read_only = on`);
  await withAdmin(store.url, (admin) => admin.query('create table public.thawed ()'));
});

it('a lock refuses work when our database accepts no more sessions, but not when the database is down', async () => {
  const own = await createTestDatabase('run_lock');
  const open = () => createBackupDatabase({ url: own.url, log });
  const [holder, other] = [await open(), await open()];
  const lockOf = (database: typeof holder) => createRunLock(database, 'alone', 'busy');
  const allowSessions = (may: boolean) => administer(`alter database ${own.name} allow_connections ${may}`);
  const done: string[] = [];
  atEnd(() => allowSessions(true));
  atEnd(() => Promise.all([holder.close(), other.close()]));
  await lockOf(holder).run(0, async () => {
    expect(await other.isUp()).toBe(true); // opens a connection that its pool keeps
    await allowSessions(false);
    const outcome = lockOf(other).run(0, async () => void done.push('beside the holder'));
    await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
  await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${own.name}'`);
  await lockOf(other).run(0, async (mayContinue) => void done.push(`away, may go on: ${await mayContinue()}`));
  expect(done).toEqual(['away, may go on: false']);
});

it('the names of the databases and roles of restores are plain, short enough for PostgreSQL, and differ for stores whose names begin alike', () => {
  const stem = 'a_name_of_a_store_that_is_rather_long';
  const made = [`${stem}_tasks`, `${stem}_auth`, 'a b', 'a_b', 'ä'.repeat(31)].flatMap((live) => {
    const { fresh, old, loader } = restoreNames(live, 'x'.repeat(16));
    return [fresh, old, loader];
  });
  expect(new Set(made).size).toBe(15);
  for (const name of made) expect(name).toMatch(/^\w{1,63}$/);
});

import { databaseOf, inDatabase } from '@taskmesh/store';
import { connect } from '@taskmesh/store/connection';
import { SESSION_LIMITS } from '@taskmesh/store/testing';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import type { Client } from 'pg';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { createBackupDatabase } from '../src/database.ts';
import { connectAdmin, withAdmin } from '../src/databases/connect.ts';
import { createFreshDatabase, dropFresh } from '../src/databases/fresh-database.ts';
import { restoreNames } from '../src/databases/names.ts';
import { openSnapshot } from '@taskmesh/pg-rows';
import { loadLimits } from '../src/restore/watch-database.ts';
import { createRunLock } from '../src/run-lock.ts';
import { withClient } from './support/with-client.ts';

let store: TestDatabase;
let limits: string[];
beforeAll(async () => {
  store = await createTestDatabase('limits');
  limits = (await store.query(SESSION_LIMITS)).map(({ name }) => String(name));
  await limit(databaseOf(store.url));
});
afterAll(() => store.drop());

/** As an operator does for sessions in general. */
async function limit(database: string): Promise<void> {
  for (const name of ['statement_timeout', ...limits])
    await store.query(`alter database ${database} set ${name} = '1s'`);
}

const limitsOf = async (session: Client, names = limits) => {
  const { rows } = await session.query('select name from pg_settings where name = any($1) and setting <> $2', [
    names,
    0,
  ]);
  return rows.map(({ name }) => name);
};
const OF_STATEMENTS = ['statement_timeout'];

describe('what is set for sessions in general does not end', () => {
  it('the session of an administrator, which has a limit of its own for each statement', async () => {
    expect(await withAdmin(store.url, (admin) => limitsOf(admin))).toEqual([]);
    const limit = await withAdmin(store.url, (admin) => admin.query('show statement_timeout'), { timeoutMs: 7_000 });
    expect(limit.rows).toEqual([{ statement_timeout: '7s' }]);
  });

  it('the dump of a store', async () => {
    const snapshot = await openSnapshot(await connectAdmin(store.url, { name: 'taskmesh-dump', timeoutMs: 0 }));
    try {
      expect(await snapshot.read((session) => limitsOf(session, [...limits, ...OF_STATEMENTS]))).toEqual([]);
    } finally {
      snapshot.close();
    }
  });

  it('the load of a dump, which has a limit of its own for each statement', async () => {
    const names = restoreNames(databaseOf(store.url), 'limits');
    const url = await createFreshDatabase(store.url, names, loadLimits(DEFAULT_SIZES));
    try {
      await limit(names.fresh);
      const loader = await connect({ url, name: 'limits', settings: { statement_timeout: null } });
      expect(await limitsOf(loader)).toEqual([]);
      expect((await loader.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '1048576ms' }]);
      await loader.end();
    } finally {
      await dropFresh(store.url, names);
    }
  });

  it('the session that keeps others from doing the same', async () => {
    const own = await createTestDatabase('limits_own');
    const database = await createBackupDatabase({ url: own.url, log: createLog({ service: 'test', level: 'silent' }) });
    try {
      await own.query(`alter database ${databaseOf(own.url)} set idle_session_timeout = '50ms'`);
      const lock = createRunLock(database, 'limits', 'busy');
      const isHeld = await lock.run(0, async (mayGoOn) => {
        await withClient(inDatabase(own.url, 'postgres'), (client) => client.query('select pg_sleep(0.2)'));
        return mayGoOn();
      });
      expect(isHeld).toBe(true);
    } finally {
      await database.close();
      await own.drop();
    }
  });
});

it('a dump runs nothing that the owner of a store has put before what is PostgreSQL’s own', async () => {
  const owned = await createTestDatabase('owned');
  try {
    await owned.query(`create schema mine; create function mine.is_same(text, text) returns boolean language plpgsql
        as $$ begin raise exception 'run as %', current_user; end $$;
      create operator mine.= (leftarg = text, rightarg = text, function = mine.is_same);
      alter database ${databaseOf(owned.url)} set search_path = mine, pg_catalog`);
    (await openSnapshot(await connectAdmin(owned.url))).close();
  } finally {
    await owned.drop();
  }
});

it('an administrator changes a store that the operator has frozen until it is restored', async () => {
  await store.query(`alter database ${databaseOf(store.url)} set default_transaction_read_only = on`);
  await withAdmin(store.url, (admin) => admin.query('create table public.thawed ()'));
});

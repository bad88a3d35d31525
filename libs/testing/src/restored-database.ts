import { atEnd } from './at-end.ts';
import { administer, createTestDatabase, type TestDatabase } from './test-database.ts';

/** Creates a database beside a live one, as backup leaves it for the import. */
export async function createRestoredDatabase(statements: string): Promise<TestDatabase> {
  const database = await createTestDatabase('restored');
  await database.query(statements);
  return database;
}

/** Ends all sessions of a database except one, and refuses new ones. */
export async function endSessions(database: string, exceptPid: unknown = null): Promise<void> {
  await administer(`alter database ${database} allow_connections false`);
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid is distinct from $2';
  // A session that was being opened may appear after the first pass.
  while ((await administer(end, [database, exceptPid])).length > 0);
}

/** Renames like a restore's swap: `live` becomes `old`, until the end of the test or file, and `fresh` becomes `live`. */
export async function swapDatabases(live: string, fresh: string, old: string): Promise<void> {
  await administer(
    `begin; alter database ${live} rename to ${old}; alter database ${fresh} rename to ${live};
     alter database ${old} allow_connections true; commit`,
  );
  atEnd(() => administer(`drop database if exists ${old} with (force)`));
}

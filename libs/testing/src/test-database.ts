import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { requiredAddress } from './addresses.ts';
import { atEnd } from './at-end.ts';

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/** Creates a database on the test server, empty or as a copy of `template`. It is dropped at the end of the test or file. */
export async function createTestDatabase(
  name: string,
  server = requiredAddress('POSTGRES_URL'),
  template = 'template1',
) {
  const database = `test_${name}_${randomBytes(5).toString('hex')}`;
  await query(server, `create database ${database} template ${template}`);
  const url = inDatabase(server, database);
  let dropped: Promise<unknown> | undefined;
  const drop = async () => {
    await (dropped ??= query(server, `drop database if exists ${database} with (force)`));
  };
  atEnd(drop);
  // Statements run on separate connections, not through the service.
  return { name: database, url, query: (text: string, values?: unknown[]) => query(url, text, values), drop };
}

/** Runs a statement on the test server, outside the tests' databases. */
export const administer = (text: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
  query(requiredAddress('POSTGRES_URL'), text, values);

/** Creates a template database with a service's schema once for all test files. Returns its name, which migrations change. */
export async function createTemplate(
  service: string,
  migrations: readonly { class: unknown }[],
  open: (url: string) => Promise<{ migrate(): Promise<unknown>; close(): Promise<unknown> }>,
): Promise<string> {
  const schema = createHash('sha256').update(migrations.map((each) => String(each.class)).join(''));
  const name = `${service}_${schema.digest('hex').slice(0, 16)}`;
  const server = requiredAddress('POSTGRES_URL');
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      const unfinished = `${name}_unfinished`;
      await client.query(`drop database if exists ${unfinished}`);
      await client.query(`create database ${unfinished}`);
      const database = await open(inDatabase(server, unfinished));
      await database.migrate();
      await database.close();
      await client.query(`alter database ${unfinished} rename to ${name}`);
    }
    return name;
  } finally {
    await client.end();
  }
}

function inDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs a statement on a connection of its own. */
export async function query<Row = Record<string, unknown>>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the statement rejects with the same error
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

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

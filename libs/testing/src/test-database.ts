import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { requiredAddress } from './addresses.ts';
import { atEnd } from './at-end.ts';

export interface TestDatabase {
  name: string;
  url: string;
  /** Runs a statement on a separate connection, not through the service. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** Creates a database on the test server, empty or as a copy of `template`. It is dropped at the end of the test or file. */
export async function createTestDatabase(
  name: string,
  server = requiredAddress('POSTGRES_URL'),
  template = 'template1',
): Promise<TestDatabase> {
  const database = `test_${name}_${randomBytes(5).toString('hex')}`;
  await query(server, `create database ${database} template ${template}`);
  const url = inDatabase(server, database);
  let dropped: Promise<unknown> | undefined;
  const drop = async () => {
    await (dropped ??= query(server, `drop database if exists ${database} with (force)`));
  };
  atEnd(drop);
  return { name: database, url, query: (text, values) => query(url, text, values), drop };
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

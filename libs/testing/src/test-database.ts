import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { requiredAddress } from './addresses.ts';

export interface TestDatabase {
  url: string;
  /** Runs a statement on a separate connection, behind the service's back. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** A new, empty database on the test server; use one per test file. */
export async function createTestDatabase(
  name: string,
  server = requiredAddress('POSTGRES_URL'),
): Promise<TestDatabase> {
  const database = `test_${name}_${randomBytes(5).toString('hex')}`;
  await query(server, `create database ${database}`);
  const url = new URL(server);
  url.pathname = `/${database}`;
  return {
    url: url.href,
    query: (text, values) => query(url.href, text, values),
    drop: async () => {
      await query(server, `drop database if exists ${database} with (force)`);
    },
  };
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { checkOnlyTables, loadDump, type LoadReport } from '../src/index.ts';

/** A database with an empty schema `restored`, into which dumps are loaded. */
export interface Loading extends Pick<TestDatabase, 'query' | 'drop' | 'url'> {
  dir: string;
  load(dump: string | Buffer): Promise<LoadReport>;
  /** @throws Error when the load created anything but tables */
  check(): Promise<void>;
  /** Removes the loaded tables. */
  clear(): Promise<void>;
}

export async function createLoading(name: string): Promise<Loading> {
  const database = await createTestDatabase(name);
  const dir = await mkdtemp(join(tmpdir(), 'pg-rows-'));
  const { url, query } = database;
  await query('create schema restored');
  return {
    url,
    query,
    dir,
    async load(dump) {
      const path = join(dir, 'database.sql');
      await writeFile(path, dump);
      return withClient(url, (client) => loadDump({ path, client, schema: 'restored' }));
    },
    check: () => withClient(url, (client) => checkOnlyTables(client, 'restored')),
    clear: async () => void (await query('drop schema restored cascade; create schema restored')),
    async drop() {
      await database.drop();
      await rm(dir, { recursive: true });
    },
  };
}

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A dump by pg_dump of a database with one of each kind of object. */
export const genuineDump = () => readFile(new URL('./fixtures/pg-dump-15.sql', import.meta.url), 'utf8');

import { createTestDatabase, makeTempDir } from '@taskmesh/testing';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { checkOnlyTables, loadDump, type LoadReport } from '../src/index.ts';

/** Creates a database with an empty schema `restored`, into which dumps are loaded. */
export async function createLoading(name: string) {
  const { url, query } = await createTestDatabase(name);
  const dir = makeTempDir();
  await query('create schema restored');
  return {
    url,
    query,
    dir,
    async load(dump: string | Buffer): Promise<LoadReport> {
      const path = join(dir, 'database.sql');
      await writeFile(path, dump);
      return withClient(url, (client) => loadDump({ path, client, schema: 'restored' }));
    },
    /** @throws Error when the load created anything but tables */
    check: () => withClient(url, (client) => checkOnlyTables(client, 'restored')),
    /** Removes the loaded tables. */
    clear: async () => void (await query('drop schema restored cascade; create schema restored')),
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

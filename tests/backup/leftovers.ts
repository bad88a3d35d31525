import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

/** What a store's server and the folders of backup hold besides what they should: sentences, none when all is well. */
export async function leftovers({ postgresUrl, dataDir }: { postgresUrl: string; dataDir: string }): Promise<string[]> {
  const client = new Client({ connectionString: postgresUrl });
  client.on('error', () => undefined); // the query rejects as well
  await client.connect();
  try {
    const databases = await names(client, `select datname as name from pg_database where datname like 'taskmesh%'`);
    const roles = await names(client, `select rolname as name from pg_roles where rolname like 'taskmesh%'`);
    const missing = STORES.filter((name) => !databases.includes(name));
    return [
      ...missing.map((name) => `the database ${name} is missing`),
      ...databases.filter((name) => !STORES.includes(name)).map((name) => `the database ${name} is left`),
      ...roles.map((name) => `the role ${name} is left`),
      ...filesIn(join(dataDir, 'backup-scratch')).map((name) => `the temporary directory ${name} is left`),
      ...filesIn(join(dataDir, 'backups'))
        .filter((name) => !/^[^.].*\.tar\.gz$/.test(name))
        .map((name) => `the unfinished archive ${name} is left`),
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}

const STORES = ['taskmesh_auth', 'taskmesh_backup', 'taskmesh_tasks'];

async function names(client: Client, query: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(query);
  return rows.map(({ name }) => name);
}

const filesIn = (dir: string) => (existsSync(dir) ? readdirSync(dir) : []);

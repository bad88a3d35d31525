import { Client, DatabaseError, escapeIdentifier } from 'pg';

/** The same server, another database. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** Both say that somebody else made it at the same moment. */
const ALREADY_THERE = ['42P04', '23505'];

/** Creates the databases that are not there yet. The user of `serverUrl` needs the right to create databases. */
export async function ensureDatabases(serverUrl: string, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: maintenanceUrl(serverUrl) });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const existing = new Set(rows.map(({ datname }) => datname));
    for (const name of names) if (!existing.has(name)) await createDatabase(client, name);
  } finally {
    await client.end();
  }
}

function maintenanceUrl(serverUrl: string): string {
  return new URL(serverUrl).pathname.length > 1 ? serverUrl : databaseUrl(serverUrl, 'postgres');
}

async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${escapeIdentifier(name)} encoding 'UTF8' template template0`);
  } catch (error) {
    if (!(error instanceof DatabaseError && ALREADY_THERE.includes(error.code ?? ''))) throw error;
  }
}

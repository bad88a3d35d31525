import { PlainError } from '@taskmesh/local-servers';
import { connect, disconnect } from '@taskmesh/store/connection';
import { SQL_STATE } from '@taskmesh/store/sql-state';
import type { Env } from '@taskmesh/service';
import { DatabaseError, escapeIdentifier, type Client } from 'pg';

/** Creating a database copies files, which takes long on a busy disk. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Runs `work` over one connection to a server. `timeoutMs` limits each statement; 0 means no limit. */
export async function withPostgres<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
  timeoutMs = 0,
): Promise<Result> {
  const client = await connect({ url, name: 'taskmesh-local' }, { query_timeout: timeoutMs });
  try {
    return await work(client);
  } finally {
    await disconnect(client);
  }
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** Both errors mean that someone else created the database at the same time. */
const ALREADY_EXISTS: readonly string[] = [SQL_STATE.duplicateDatabase, SQL_STATE.uniqueViolation];

/**
 * Creates missing databases. The user of `serverUrl` must be permitted to create databases.
 * @throws PlainError when that user is not
 */
export async function ensureDatabases(serverUrl: string, names: readonly string[]): Promise<void> {
  await onServer(serverUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const existing = new Set(rows.map(({ datname }) => datname));
    for (const name of names) if (!existing.has(name)) await createDatabase(client, name);
  });
}

/**
 * Returns a sentence for each administrator of the stores (by default the user of POSTGRES_URL) who lacks privileges for a
 * restore, which creates a database and a role. Everything else works without them, until someone needs a backup.
 */
export async function describeMissingRights(serverUrl: string, env: Env): Promise<string[]> {
  const settings = ['TASKS_ADMIN_URL', 'AUTH_ADMIN_URL'].map((name) => (env[name] ? name : 'POSTGRES_URL'));
  const reasons = [...new Set(settings)].map(async (setting) => {
    // Backup itself reports a server that does not respond.
    const { user, missing } = await findMissingRights(env[setting] || serverUrl).catch(() => ({
      user: '',
      missing: [],
    }));
    if (missing.length === 0) return [];
    const role = escapeIdentifier(user);
    return `The user of ${setting} lacks privileges for restores: backups are made, but cannot be verified or restored. Let an administrator of the server run: alter role ${role} ${missing.join(' ')};`;
  });
  return (await Promise.all(reasons)).flat();
}

async function findMissingRights(url: string): Promise<{ user: string; missing: string[] }> {
  const { rows } = await onServer(url, (client) =>
    client.query<{ user: string; databases: boolean; roles: boolean }>(
      `select rolname as user, rolsuper or rolcreatedb as databases, rolsuper or rolcreaterole as roles
       from pg_roles where rolname = current_user`,
    ),
  );
  const { user = '', databases = true, roles = true } = rows[0] ?? {};
  return { user, missing: [...(databases ? [] : ['createdb']), ...(roles ? [] : ['createrole'])] };
}

/** Uses the maintenance database unless the URL names one. */
function onServer<Result>(serverUrl: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const url = new URL(serverUrl).pathname.length > 1 ? serverUrl : databaseUrl(serverUrl, 'postgres');
  return withPostgres(url, work, STATEMENT_TIMEOUT_MS);
}

async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${escapeIdentifier(name)} encoding 'UTF8' template template0`);
    await client.query(`revoke all on database ${escapeIdentifier(name)} from public`);
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined;
    if (ALREADY_EXISTS.includes(code ?? '')) return;
    if (code !== SQL_STATE.insufficientPrivilege) throw error;
    const role = escapeIdentifier(client.user ?? '');
    throw new PlainError(
      `The user of POSTGRES_URL may not create the database ${name}. Let an administrator of the server run: alter role ${role} createdb;`,
      { cause: error },
    );
  }
}

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

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What the administrators of the stores (by default the user of POSTGRES_URL) lack for a restore, which goes into a new
 * database by a new role: a sentence for each. Without it all else works, until somebody needs a backup.
 */
export async function whyNoRestores(serverUrl: string, env: Env): Promise<string[]> {
  const settings = ['TASKS_ADMIN_URL', 'AUTH_ADMIN_URL'].map((name) => (env[name] ? name : 'POSTGRES_URL'));
  const reasons = [...new Set(settings)].map(async (setting) => {
    // One that does not answer is backup's own to tell of.
    const { user, missing } = await missingRights(env[setting] || serverUrl).catch(() => NOTHING_MISSING);
    if (missing.length === 0) return [];
    const role = escapeIdentifier(user);
    return `The user of ${setting} may not do what a restore takes: backups are made, and none can be proved or restored. An administrator of the server mends it: alter role ${role} ${missing.join(' ')};`;
  });
  return (await Promise.all(reasons)).flat();
}

interface Rights {
  user: string;
  missing: string[];
}

const NOTHING_MISSING: Rights = { user: '', missing: [] };

async function missingRights(url: string): Promise<Rights> {
  const client = new Client({ connectionString: maintenanceUrl(url), connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ user: string; databases: boolean; roles: boolean }>(
      `select rolname as user, rolsuper or rolcreatedb as databases, rolsuper or rolcreaterole as roles
       from pg_roles where rolname = current_user`,
    );
    const { user = '', databases = true, roles = true } = rows[0] ?? {};
    return { user, missing: [...(databases ? [] : ['createdb']), ...(roles ? [] : ['createrole'])] };
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

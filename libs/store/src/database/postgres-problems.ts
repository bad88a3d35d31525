import { explainTls, type Refusal } from '@taskmesh/service';
import type { Client } from 'pg';
import { connect, disconnect } from './connection.ts';
import { SQL_STATE } from './sql-state.ts';

/** The oldest version that migrations and statements support. Also stated in docs/servers.md. */
const MIN_MAJOR_VERSION = 15;

/** A server may freeze after the connection is made. */
const QUERY_LIMIT = { query_timeout: 5_000 };

const NO_SESSIONS: Refusal = {
  reason:
    'is reached by a pooler that keeps no sessions, which locks and notifications need: set pool_mode = session there, or name the server itself',
  isPermanent: true,
};

/**
 * Returns why a responding server, or this database as a store, cannot be used; undefined if it can. `name` is that of the
 * connections in the server's statistics. Rejects when the server does not respond.
 */
export async function findDatabaseProblem(url: string, name: string, asStore = false): Promise<Refusal | undefined> {
  const first = await connect({ url, name }, QUERY_LIMIT);
  try {
    const { rows } = await first.query<{ version: number; encoding: string }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    );
    const problem =
      rows[0] && (findVersionProblem(rows[0].version) ?? (asStore ? findEncodingProblem(rows[0].encoding) : undefined));
    if (problem) return problem;
    const second = await connect({ url, name }, QUERY_LIMIT);
    try {
      return (await haveSessions(first, second)) ? undefined : NO_SESSIONS;
    } finally {
      await disconnect(second);
    }
  } finally {
    await disconnect(first);
  }
}

/** `version` is the server's `server_version_num`: 180004 for 18.4. */
export function findVersionProblem(version: number): Refusal | undefined {
  const major = Math.floor(version / 10_000);
  if (major >= MIN_MAJOR_VERSION) return undefined;
  return { reason: `has version ${major}, but needs version ${MIN_MAJOR_VERSION} or newer`, isPermanent: true };
}

/** SQL_ASCII, the default of a server with locale C, stores UTF-8 unchanged. */
function findEncodingProblem(encoding: string): Refusal | undefined {
  if (['UTF8', 'SQL_ASCII'].includes(encoding)) return undefined;
  const reason = `has the encoding ${encoding}, but needs UTF8: create the database with template template0 encoding 'UTF8'`;
  return { reason, isPermanent: true };
}

/** A pooler in transaction mode gives the idle connection of the first client to the transaction of the second. */
async function haveSessions(first: Client, second: Client): Promise<boolean> {
  const before = await backendOf(first);
  await second.query('begin');
  return (await backendOf(second)) !== before && (await backendOf(first)) === before;
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
  return rows[0]?.pid;
}

const TLS = 'sslmode in POSTGRES_URL';

const NO_ADDRESS: Refusal = {
  reason:
    'has no address: POSTGRES_URL must be postgres://user:password@host:5432/database, with special characters as %2F and the like',
  isPermanent: true,
};

/** Tries to connect once; returns undefined if the server can be used. */
export async function findPostgresProblem(connectionString: string): Promise<Refusal | undefined> {
  if (!isUrlOfPostgres(connectionString)) return NO_ADDRESS;
  try {
    return await findDatabaseProblem(connectionString, 'taskmesh-check');
  } catch (error) {
    return refusalOf(error);
  }
}

function isUrlOfPostgres(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}

/** Never contains a password. */
export function refusalOf(error: unknown): Refusal {
  const names = { ca: 'sslrootcert in POSTGRES_URL', cert: 'sslcert in POSTGRES_URL', tls: TLS };
  const { code, syscall, message } = detailsOf(error);
  const reason =
    (code === SQL_STATE.invalidPassword && 'refuses the user or the password (POSTGRES_URL)') ||
    (code === SQL_STATE.invalidAuthorization && `refuses this user, or this way to it: ${message} (${TLS})`) ||
    (code === SQL_STATE.insufficientPrivilege &&
      `does not grant this user (POSTGRES_URL) enough privileges: ${message}. The user must own the database`) ||
    (message === 'The server does not support SSL connections' && `does not use TLS on this port (${TLS})`) ||
    (syscall === 'open' && 'is not reached: a file in POSTGRES_URL cannot be read (sslrootcert, sslcert or sslkey)');
  if (reason) return { reason, isPermanent: true };
  // Someone may be about to create the database.
  if (code === SQL_STATE.invalidCatalogName)
    return { reason: `has no such database (POSTGRES_URL): ${message}`, isPermanent: false };
  return (
    explainTls(error, names) ?? {
      reason: `does not respond: ${message || code || 'no reason given'}`,
      isPermanent: false,
    }
  );
}

function detailsOf(error: unknown): { code: string; syscall: string; message: string } {
  if (!Error.isError(error)) return { code: '', syscall: '', message: String(error) };
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException; // the driver's errors have a code as well
  return { code, syscall, message: error.message }; // the message is empty when several addresses failed
}

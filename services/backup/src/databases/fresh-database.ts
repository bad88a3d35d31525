import { copyPrivileges, createDatabaseLike } from '@taskmesh/pg-rows/replacement';
import { inDatabase } from '@taskmesh/store';
import { randomBytes } from 'node:crypto';
import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { maintenanceUrl, withAdmin, withReplacement } from './connect.ts';
import { RESTORED_SCHEMA, type RestoreNames } from './names.ts';

export interface LoaderLimits {
  statementTimeoutMs: number;
  tempFileBytes: number;
}

/**
 * $1: the database. Its creator holds this lock until its session ends: a server continues a statement after the client
 * has disconnected, and a drop at that time would miss the database still being created.
 */
const LOCK_DATABASE = 'select pg_advisory_lock(hashtextextended($1, 0))';

/**
 * Creates an empty database like the live one, with the same owner, and a role that may only fill the schema of restored
 * tables in it. Only that role may connect. Returns the new database's URL with that role's login.
 */
export async function createFreshDatabase(
  adminUrl: string,
  names: RestoreNames,
  limits: LoaderLimits,
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const { fresh, loader } = { fresh: escapeIdentifier(names.fresh), loader: escapeIdentifier(names.loader) };
  const create = async (admin: Client) => {
    await admin.query(LOCK_DATABASE, [names.fresh]);
    await createLoader(admin, { name: names.loader, password, limits });
    await createDatabaseLike(admin, { name: names.fresh, like: names.live });
    await admin.query(`revoke all on database ${fresh} from public`);
    await admin.query(`grant connect on database ${fresh} to ${loader}`);
  };
  await withAdmin(maintenanceUrl(adminUrl), create, DATABASE_TIMEOUTS);
  await withAdmin(inDatabase(adminUrl, names.fresh), async (admin) => {
    const owner = await ownerOf(admin);
    await admin.query(`revoke all on schema public from public`);
    await admin.query(`create schema ${RESTORED_SCHEMA} authorization ${owner}`);
    await admin.query(`grant usage, create on schema ${RESTORED_SCHEMA} to ${loader}`);
  });
  const url = new URL(inDatabase(adminUrl, names.fresh));
  url.username = '';
  url.password = ''; // the process that reads the dump must not get the administrator's
  url.searchParams.set('user', names.loader); // in the query, because a URL with a socket has no host to put it before
  url.searchParams.set('password', password);
  return url.href;
}

async function createLoader(
  admin: Client,
  { name, password, limits }: { name: string; password: string; limits: LoaderLimits },
): Promise<void> {
  const role = escapeIdentifier(name);
  // An administrator who is not a superuser must be a member of the role to drop it or reassign its objects. Both statements
  // are one transaction, so that a crash leaves no role that cannot be dropped.
  await admin.query(
    `create role ${role} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 4
     password ${escapeLiteral(password)}; grant ${role} to current_user`,
  );
  await admin.query(`alter role ${role} set statement_timeout = ${Math.ceil(limits.statementTimeoutMs)}`);
  const { rows } = await admin.query<{ is_superuser: string }>('show is_superuser');
  if (rows[0]?.is_superuser === 'on')
    await admin.query(`alter role ${role} set temp_file_limit = '${Math.ceil(limits.tempFileBytes / 1024)}kB'`);
}

/**
 * Gives the loaded tables to the live database's owner, grants access as in the live one, and drops the loading role.
 * Returns a description of each statement that the administrator was not permitted to run.
 */
export async function assignToOwner(adminUrl: string, names: RestoreNames): Promise<string[]> {
  const loader = escapeIdentifier(names.loader);
  await withAdmin(inDatabase(adminUrl, names.fresh), async (admin) => {
    const owner = await ownerOf(admin);
    await admin.query(`reassign owned by ${loader} to ${owner}`);
    await admin.query(`drop owned by ${loader}`);
    await admin.query('grant usage on schema public to public');
    await admin.query(`drop role ${loader}`);
  });
  return withReplacement(adminUrl, names, copyPrivileges);
}

/** The owner of the database, for a statement. */
async function ownerOf(admin: Client): Promise<string> {
  const { rows } = await admin.query<{ owner: string }>(
    'select quote_ident(pg_get_userbyid(datdba)) as owner from pg_database where datname = current_database()',
  );
  return rows[0]?.owner ?? '';
}

/** Drops the database and role of a restore, if they exist. @throws Error when they are still being created */
export async function dropFresh(adminUrl: string, names: RestoreNames, lockMs = LOCK_TIMEOUT_MS): Promise<void> {
  const drop = async (admin: Client) => {
    await admin.query(`set lock_timeout = ${lockMs}`);
    await admin.query(LOCK_DATABASE, [names.fresh]);
    await dropDatabase(admin, names.fresh, lockMs);
    await dropLoader(admin, names.loader);
  };
  await withAdmin(maintenanceUrl(adminUrl), drop, DATABASE_TIMEOUTS);
}

async function dropLoader(admin: Client, loader: string): Promise<void> {
  const role = escapeIdentifier(loader);
  const { rows } = await admin.query('select 1 from pg_roles where rolname = $1', [loader]);
  if (rows.length === 0) return;
  await admin.query(`drop owned by ${role}`); // privileges on databases that others created
  await admin.query(`drop role if exists ${role}`);
}

/** Someone who copies the database, or locks it otherwise, may hold the lock for any time. */
const LOCK_TIMEOUT_MS = 5_000;
/** For statements that create or drop a whole database, which may take minutes on a busy disk. */
export const DATABASE_TIMEOUTS = { timeoutMs: 10 * 60_000 };

/** Drops a database, including its sessions, if it exists. @throws Error when it is locked for too long */
export async function dropDatabase(admin: Client, name: string, lockMs = LOCK_TIMEOUT_MS): Promise<void> {
  await admin.query(`set lock_timeout = ${lockMs}`);
  const { rows } = await admin.query<{ template: boolean }>(
    'select datistemplate as template from pg_catalog.pg_database where datname = $1',
    [name],
  );
  if (rows[0]?.template) await admin.query(`alter database ${escapeIdentifier(name)} is_template false`);
  await admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
}

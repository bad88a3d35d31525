import { inDatabase } from '@taskmesh/database';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, escapeIdentifier, type Client } from 'pg';
import { maintenanceUrl, withClient } from './connect.ts';
import type { RestoreNames } from './names.ts';

/** While something else still uses a database, its rename waits for that long (a constant of PostgreSQL: 5 s), then fails. */
const RENAME_TIMEOUT_MS = 8_000;
const LOCK_TIMEOUT_MS = 3_000;
const LOCK_TRIES = 5;
const DEADLOCK_DETECTED = '40P01';
const TERMINATE_EVERY_MS = 10;

/**
 * Lets `fresh` take the place of `live`, which becomes `old`: both renames in one transaction, so that a crash at any
 * moment leaves one or the other. Sessions of the store are ended; new ones wait and then reach the new database.
 *
 * `lastCopy` runs before, while the store can be read and not be written: what it copies is complete.
 * @throws Error when nothing was changed
 */
export async function swapDatabases(
  adminUrl: string,
  names: RestoreNames,
  lastCopy?: () => Promise<void>,
): Promise<void> {
  if (!lastCopy) return rename(adminUrl, names, [names.live, names.old], [names.fresh, names.live]);
  await withClient(inDatabase(adminUrl, names.live), async (writersOut) => {
    await lockTables(writersOut);
    await lastCopy();
    await rename(adminUrl, names, [names.live, names.old], [names.fresh, names.live], writersOut);
  });
}

/** Undoes a swap whose new database is of no use. */
export function swapBack(adminUrl: string, names: RestoreNames): Promise<void> {
  return rename(adminUrl, names, [names.live, names.fresh], [names.old, names.live]);
}

/** Writers wait from here on; readers do not. A writer that waits for us while we wait for it makes one of us give way. */
async function lockTables(client: Client): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryLockTables(client);
    } catch (error) {
      await client.query('rollback');
      const isDeadlock = error instanceof DatabaseError && error.code === DEADLOCK_DETECTED;
      if (!isDeadlock || tries === LOCK_TRIES) throw error;
    }
  }
}

async function tryLockTables(client: Client): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema' order by c.oid`,
  );
  if (rows.length > 0) await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in share mode`);
}

/**
 * The first rename takes a lock on the database that keeps new sessions waiting, and then waits for the others to go;
 * they are ended meanwhile. `lastOne` holds its locks until all others are gone, so that no writer slips in.
 */
async function rename(
  adminUrl: string,
  names: RestoreNames,
  first: [from: string, to: string],
  second: [from: string, to: string],
  lastOne?: Client,
): Promise<void> {
  const maintenance = maintenanceUrl(adminUrl);
  const done = new AbortController();
  await withClient(maintenance, async (renamer) => {
    const ending = withClient(maintenance, (client) =>
      endSessions(client, [names.live, names.fresh], done.signal, lastOne),
    );
    try {
      await renamer.query(`set statement_timeout = ${RENAME_TIMEOUT_MS}`);
      await renamer.query('begin');
      await renamer.query(renameStatement(first));
      await renamer.query(renameStatement(second));
      await renamer.query('commit');
    } finally {
      done.abort();
      await ending.catch(() => undefined); // what matters is whether the renames went through
    }
  });
}

function renameStatement([from, to]: [string, string]): string {
  return `alter database ${escapeIdentifier(from)} rename to ${escapeIdentifier(to)}`;
}

async function endSessions(client: Client, databases: string[], signal: AbortSignal, lastOne?: Client): Promise<void> {
  const lastPid = lastOne ? (await lastOne.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid : 0;
  while (!signal.aborted) {
    // Without its optional wait, which would be one more way to hang.
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = any($1) and pid <> $2 and backend_type = 'client backend'`,
      [databases, lastPid],
    );
    if (rowCount === 0) await lastOne?.end();
    await pause(TERMINATE_EVERY_MS);
  }
}

/** Which of a restore's databases are there. */
export async function existing(adminUrl: string, { live, fresh, old }: RestoreNames) {
  return withClient(maintenanceUrl(adminUrl), async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where datname = any($1)',
      [[live, fresh, old]],
    );
    const found = new Set(rows.map(({ datname }) => datname));
    return { live: found.has(live), fresh: found.has(fresh), old: found.has(old) };
  });
}

export async function dropOld(adminUrl: string, { old }: RestoreNames): Promise<void> {
  await withClient(maintenanceUrl(adminUrl), (client) =>
    client.query(`drop database if exists ${escapeIdentifier(old)} with (force)`),
  );
}

import { escapeIdentifier, type Client } from 'pg';

/** Copying a database, or another use that locks it, may take for ever. */
export const DROP_TIMEOUT_MS = 5_000;
/** For a statement that makes or removes a whole database: a busy disk may need minutes. */
export const DATABASE_TIMEOUTS = { timeoutMs: 10 * 60_000 };

/** Drops a database, including its sessions, if it exists. @throws Error when it is locked for too long */
export async function dropDatabase(admin: Client, name: string, lockTimeoutMs = DROP_TIMEOUT_MS): Promise<void> {
  await admin.query(`set lock_timeout = ${lockTimeoutMs}`);
  const { rows } = await admin.query<{ template: boolean }>(
    'select datistemplate as template from pg_catalog.pg_database where datname = $1',
    [name],
  );
  if (rows[0]?.template) await admin.query(`alter database ${escapeIdentifier(name)} is_template false`);
  await admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
}

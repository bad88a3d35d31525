import { escapeIdentifier, type Client } from 'pg';

/** Somebody copies the database, or holds on to it in another way: that may take for ever. */
export const LOCK_TIMEOUT_MS = 5_000;

/** Drops a database, whoever is in it; nothing happens when it is not there. @throws Error when somebody holds on to it */
export async function dropDatabase(admin: Client, name: string, lockTimeoutMs = LOCK_TIMEOUT_MS): Promise<void> {
  await admin.query(`set lock_timeout = ${lockTimeoutMs}`);
  const { rows } = await admin.query<{ template: boolean }>(
    'select datistemplate as template from pg_catalog.pg_database where datname = $1',
    [name],
  );
  if (rows[0]?.template) await admin.query(`alter database ${escapeIdentifier(name)} is_template false`);
  await admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
}

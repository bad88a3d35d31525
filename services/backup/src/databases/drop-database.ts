import { escapeIdentifier, type Client } from 'pg';

/** Drops a database, whoever is in it; nothing happens when it is not there. */
export async function dropDatabase(admin: Client, name: string): Promise<void> {
  const { rows } = await admin.query<{ template: boolean }>(
    'select datistemplate as template from pg_catalog.pg_database where datname = $1',
    [name],
  );
  if (rows[0]?.template) await admin.query(`alter database ${escapeIdentifier(name)} is_template false`);
  await admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
}

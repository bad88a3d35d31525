import { connectClient, createRestoredDatabase, endSessions, swapDatabases } from '@taskmesh/testing';
import type { TestDatabase } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { RunningAuth } from './running-auth.ts';

/** A dump's table, without its constraints. */
export const RESTORED_ACCOUNTS = `
  create schema restored;
  create table restored.accounts (
    id uuid, email text, email_key text, name text, password_hash text, password_version integer,
    email_confirmed_at timestamptz, created_at timestamptz, updated_at timestamptz
  );`;

/** A row; values are SQL. */
export function restoredAccount(columns: Record<string, string> = {}): string {
  const row: Record<string, string> = {
    id: `'${randomUUID()}'`,
    email: `'Somebody@Example.test'`,
    email_key: `'somebody@example.test'`,
    name: `'Somebody'`,
    password_hash: `'$argon2id$v=19$m=19456,t=2,p=1$c29tZXRoaW5n$c29tZXRoaW5n'`,
    password_version: '1',
    email_confirmed_at: `'2026-01-01T00:00Z'`,
    created_at: `'2026-01-01T00:00Z'`,
    updated_at: `'2026-01-01T00:00Z'`,
    ...columns,
  };
  return `insert into restored.accounts (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')});`;
}

/** A database beside the live one, with its current accounts: a backup of this moment. */
export async function backupOf({ database }: RunningAuth): Promise<TestDatabase> {
  const [row] = await database.query(`select coalesce(json_agg(a), '[]')::text as rows from accounts a`);
  const restored = await createRestoredDatabase(RESTORED_ACCOUNTS);
  const rows = 'select * from json_populate_recordset(null::restored.accounts, $1::json)';
  await restored.query(`insert into restored.accounts ${rows}`, [row?.rows]);
  return restored;
}

/** All tables of the live store, as backup leaves them for the import: an archive of this moment. */
export async function archiveOf({ database }: RunningAuth): Promise<TestDatabase> {
  const restored = await createRestoredDatabase('create schema restored');
  const [live, archive] = [await connectClient(database.url), await connectClient(restored.url)];
  const tables = await live.query<{ name: string; columns: string }>(
    `select table_name as name, string_agg(format('%I %s', column_name, data_type), ', ' order by ordinal_position) as columns
     from information_schema.columns where table_schema = 'public' group by table_name`,
  );
  for (const { name, columns } of tables.rows) {
    const { rows } = await live.query(`select coalesce(json_agg(t), '[]')::text as all from ${name} t`);
    await archive.query(`create table restored.${name} (${columns})`);
    const all = `select * from json_populate_recordset(null::restored.${name}, $1::json)`;
    await archive.query(`insert into restored.${name} ${all}`, [rows[0]?.all]);
  }
  for (const client of [live, archive]) await client.end();
  return restored;
}

/** The content of such an archive's manifest. */
export const ARCHIVED = { schemaVersion: '0014-bcrypt-hashes', allowsLoss: false };

/** Swaps in the restored store, with current data carried over. Returns the live store's new name. */
export async function swap({ auth, database: { name, url } }: RunningAuth, fresh: string): Promise<string> {
  const old = `${name}_${randomUUID().slice(0, 8)}`;
  const writersOut = await lockedOut(url);
  await auth.restore.carryOver(fresh);
  // End the lock's holder last: otherwise a waiting writer could still write to the old store.
  const { rows } = await writersOut.query('select pg_backend_pid() as pid');
  await endSessions(name, rows[0]?.pid);
  await writersOut.end();
  await swapDatabases(name, fresh, old);
  return old;
}

/** Holds locks that keep writers waiting. Retries on a deadlock with one of them. */
async function lockedOut(url: string): Promise<Client> {
  const client = await connectClient(url);
  for (let tries = 1; ; tries++) {
    try {
      await client.query('begin');
      const tables = `select string_agg(quote_ident(tablename), ', ') as names from pg_tables where schemaname = 'public'`;
      const { rows } = await client.query(tables);
      await client.query(`lock table ${rows[0].names} in share mode`);
      return client;
    } catch (error) {
      await client.query('rollback');
      if (tries < 20) continue;
      await client.end();
      throw error;
    }
  }
}

import { createTestDatabase, requiredAddress, type TestDatabase } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** The table of a dump, without its constraints. */
export const RESTORED_TASKS = `
  create schema restored;
  create table restored.tasks (
    id uuid, user_id uuid, title text, description text, completed boolean, due_date timestamptz, category text,
    priority text, created_at timestamptz, updated_at timestamptz, version integer
  );`;

/** The columns of one row, as SQL. */
export type RestoredRow = Record<string, string>;

export function restoredRow(columns: RestoredRow = {}): string {
  const row: RestoredRow = {
    id: `'${randomUUID()}'`,
    user_id: `'${randomUUID()}'`,
    title: `'from the dump'`,
    description: 'null',
    completed: 'false',
    due_date: 'null',
    category: 'null',
    priority: `'medium'`,
    created_at: `'2026-01-01T00:00Z'`,
    updated_at: `'2026-01-01T00:00Z'`,
    ...columns,
  };
  return `insert into restored.tasks (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')});`;
}

/** A database beside the live one, as backup leaves it for the import. */
export async function restoredDatabase(statements: string): Promise<TestDatabase & { name: string }> {
  const database = await createTestDatabase('restored');
  await database.query(statements);
  return { ...database, name: nameOf(database) };
}

export function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1);
}

/** Swaps the two by renaming: the restored one gets the name of the live one, and that one the name `old`. */
export async function swap(live: string, fresh: string, old: string): Promise<void> {
  await withAdmin(async (admin) => {
    await admin.query(`alter database ${live} with allow_connections false`);
    // A session that was being opened may appear after the first query.
    for (let left = 1; left !== 0;)
      left =
        (await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [live]))
          .rowCount ?? 0;
    await admin.query('begin');
    await admin.query(`alter database ${live} rename to ${old}`);
    await admin.query(`alter database ${fresh} rename to ${live}`);
    await admin.query('commit');
  });
}

/** Drops the database that was live before a swap. */
export async function dropOld(old: string): Promise<void> {
  await withAdmin((admin) => admin.query(`drop database if exists ${old} with (force)`));
}

async function withAdmin(work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: requiredAddress('POSTGRES_URL') });
  await admin.connect();
  await work(admin).finally(() => admin.end());
}

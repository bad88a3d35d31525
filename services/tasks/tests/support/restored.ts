import { randomUUID } from 'node:crypto';

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

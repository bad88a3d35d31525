import { randomUUID } from 'node:crypto';
import type { Pool, QueryResultRow } from 'pg';
import * as statements from './statements.ts';

const PARTITIONS = 8;

export interface TaskInput {
  title: string;
  description?: string;
  completed?: boolean;
  dueDate?: string;
  category?: string;
  priority?: string;
}

/** The tasks of an owner, each call one prepared statement. */
export function createTaskStore(pool: Pool) {
  const run = async (statement: { name: string; text: string }, values: unknown[]) => {
    const { rows } = await pool.query<QueryResultRow>({ ...statement, values });
    return rows;
  };
  return {
    async create(ownerId: string, task: TaskInput) {
      const { title, description, completed = false, dueDate, category, priority = 'medium' } = task;
      const values = [title, description, completed, dueDate, category, priority]; // what is undefined becomes null
      const now = new Date().toISOString();
      return (await run(statements.CREATE, [partOf(ownerId), newId(), ownerId, now, ...values]))[0];
    },
    async update(ownerId: string, id: string, { title, completed }: Partial<TaskInput>) {
      const now = new Date().toISOString();
      return (await run(statements.UPDATE, [partOf(ownerId), id, ownerId, now, title, completed]))[0];
    },
    get: async (ownerId: string, id: string) => (await run(statements.GET, [id, ownerId]))[0],
    list: (ownerId: string) => run(statements.LIST, [ownerId]),
    async statistics(ownerId: string) {
      const { total = 0, completed = 0 } = (await run(statements.STATISTICS, [ownerId]))[0] ?? {};
      const completionPercentage = total === 0 ? 0 : Math.round((completed / total) * 10_000) / 100;
      return { total, completed, pending: total - completed, completionPercentage };
    },
  };
}

/** A UUIDv7: new rows stand side by side in the index, as the services' do. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** In which part of the change log an owner's changes are. */
export function partOf(ownerId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ownerId.length; index++) hash = Math.imul(hash ^ ownerId.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}

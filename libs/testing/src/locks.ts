import type { Client } from 'pg';
import { connectClient } from './at-end.ts';
import { eventually } from './eventually.ts';
import type { TestDatabase } from './test-database.ts';

interface Meanwhile {
  /** How many sessions must wait for a lock. @default 1 */
  waiting?: number;
  /** A pattern that their queries match. */
  query?: string;
  /** Runs once they wait. */
  meanwhile?: (holder: Client) => unknown;
}

/** Runs `work` while another transaction holds the locks of the statement. It commits once a session waits for it. */
export async function whileLocked<Result>(
  database: TestDatabase,
  [text, ...values]: [text: string, ...values: unknown[]],
  work: () => Promise<Result>,
  { waiting = 1, query, meanwhile }: Meanwhile = {},
): Promise<Result> {
  const holder = await connectClient(database.url, 'begin');
  try {
    await holder.query(text, values);
    const result = work();
    const waits = eventually(async () => (await countWaiting(database, query)) >= waiting);
    await Promise.race([waits, result.then(() => waits)]); // fails at once with the work
    await meanwhile?.(holder);
    await holder.query('commit');
    return await result;
  } finally {
    await holder.end();
  }
}

/** The number of sessions of a database that wait for a lock. */
export async function countWaiting(database: TestDatabase, query = ''): Promise<number> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ $1`;
  return (await database.query(waiting, [query])).length;
}

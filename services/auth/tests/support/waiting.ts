import { eventually } from '@taskmesh/testing';
import { Client } from 'pg';
import type { RunningAuth } from './running-auth.ts';

/** How many sessions wait for a lock in the store. */
export async function countWaiting({ database }: RunningAuth): Promise<number> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await database.query(waiting)).length;
}

/** Runs `work` while another transaction holds what the statement locks, which commits once somebody waits for it. */
export async function whileHeld<Result>(
  running: RunningAuth,
  [text, ...values]: [text: string, ...values: unknown[]],
  work: () => Promise<Result>,
  { waiting = 1, meanwhile }: { waiting?: number; meanwhile?: (holder: Client) => Promise<unknown> } = {},
): Promise<Result> {
  const holder = new Client({ connectionString: running.database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(text, values);
    const result = work();
    await eventually(async () => expect(await countWaiting(running)).toBeGreaterThanOrEqual(waiting));
    await meanwhile?.(holder);
    await holder.query('commit');
    return await result;
  } finally {
    await holder.end();
  }
}

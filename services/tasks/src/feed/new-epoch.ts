import type { Database, Statement } from '@taskmesh/database';

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Far from the end of the type, which is some decades later. */
const LARGEST = 2_000_000_000;

/** $1 at the least */
const NEW_EPOCH: Statement = {
  name: 'feed-new-epoch',
  text: `
    update feed_state set epoch = greatest(epoch + 1, $1::integer),
      cursor_key = decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
    returning epoch`,
};

/**
 * Begins an epoch above all that were ever told, also where the database was put back to an earlier state and says an old one
 * again: the seconds of a clock go on, as far as the hosts' clocks agree, and restores, which count up by one, take longer than
 * a second. Sequences go on.
 */
export async function beginNewEpoch(database: Pick<Database, 'run'>, nowMs: number): Promise<number> {
  const atLeast = Math.min(Math.floor((nowMs - FIRST_MS) / 1_000), LARGEST);
  const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [atLeast]);
  if (!state) throw new Error('The store has no feed state.');
  return state.epoch;
}

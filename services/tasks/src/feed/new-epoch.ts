import type { Database, Statement } from '@taskmesh/database';
import { conflict } from '@taskmesh/errors';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { NEW_CURSOR_KEY } from './feed.statements.ts';

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Far from the end of the type, which is some decades later. */
const LARGEST = 2_000_000_000;

const least = z.int().min(1).max(LARGEST);

/** $1 at the least */
const NEW_EPOCH: Statement = {
  name: 'feed-new-epoch',
  text: `
    update feed_state set epoch = greatest(epoch + 1, $1::integer), cursor_key = ${NEW_CURSOR_KEY}
    returning epoch`,
};

/** What the database's clock says, and what it said when the newest of the changes that are kept was published. */
const CLOCK: Statement = {
  name: 'feed-clock',
  text: `
    select extract(epoch from now())::float8 * 1000 as "nowMs", (
      select extract(epoch from published_at)::float8 * 1000 from changes
      where published_at is not null order by id desc limit 1
    ) as "newestMs"`,
};

export interface NewEpoch {
  /** What the clock of this host says. */
  nowMs: number;
  /** Above what clients and gateways know, by somebody who has seen to it. Absent: the clocks are trusted. */
  atLeast?: number | null | undefined;
}

/**
 * Begins an epoch above all that were ever told, also where the database was put back to an earlier state and says an old one
 * again: the seconds of a clock go on, and restores, which count up by one, take longer than a second. Of the two clocks the
 * later one counts. Sequences go on.
 * @throws AppError CONFLICT when both are evidently behind, BAD_USER_INPUT
 */
export async function beginNewEpoch(database: Pick<Database, 'run'>, { nowMs, atLeast }: NewEpoch): Promise<number> {
  const wanted = atLeast == null ? undefined : parseInput(least, atLeast);
  const [clock] = await database.run<{ nowMs: number; newestMs: number | null }>('read', CLOCK, []);
  const latestMs = Math.max(nowMs, clock?.nowMs ?? 0);
  if (wanted === undefined && latestMs < (clock?.newestMs ?? 0))
    throw conflict('The clock is behind the newest change of the store: set it right, or say what the epoch must be at the least.'); // prettier-ignore
  const seconds = Math.floor((latestMs - FIRST_MS) / 1_000);
  const floor = Math.min(Math.max(seconds, wanted ?? 0), LARGEST);
  const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [floor]);
  if (!state) throw new Error('The store has no feed state.');
  return state.epoch;
}

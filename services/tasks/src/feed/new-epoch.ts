import type { Database, Statement } from '@taskmesh/database';
import { conflict } from '@taskmesh/errors';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { NEW_CURSOR_KEY } from './feed.statements.ts';

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Far below the type's maximum, which is some decades further. */
const LARGEST = 2_000_000_000;

const least = z.int().min(1).max(LARGEST);

/** $1: the lowest acceptable epoch */
const NEW_EPOCH: Statement = {
  name: 'feed-new-epoch',
  text: `
    update feed_state set epoch = greatest(epoch + 1, $1::integer), cursor_key = ${NEW_CURSOR_KEY}
    returning epoch`,
};

/** The database's time now, and at the publication of the newest change that is kept. */
const CLOCK: Statement = {
  name: 'feed-clock',
  text: `
    select extract(epoch from now())::float8 * 1000 as "nowMs", (
      select extract(epoch from published_at)::float8 * 1000 from changes
      where published_at is not null order by id desc limit 1
    ) as "newestMs"`,
};

export interface NewEpoch {
  nowMs: number;
  /** Above all epochs that clients and gateways know, as the operator has checked. Absent: the clocks are trusted. */
  atLeast?: number | null | undefined;
}

/**
 * Starts an epoch above all earlier ones, even when the database was reset and has an old one again: epochs follow the
 * seconds of a clock, and restores, which add one, take longer than a second. The later of the two clocks counts.
 * Sequences continue.
 * @throws AppError CONFLICT when both clocks are evidently behind, BAD_USER_INPUT
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

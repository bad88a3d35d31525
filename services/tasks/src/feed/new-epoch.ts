import { epochAt, LARGEST_EPOCH } from '@taskmesh/change-log';
import type { Database } from '@taskmesh/database';
import { conflict } from '@taskmesh/errors';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import { CLOCK, NEW_EPOCH } from './feed.statements.ts';

const least = z.int().min(1).max(LARGEST_EPOCH);

export interface NewEpoch {
  nowMs: number;
  /** Above all epochs that clients and gateways know, as the operator has checked. Absent: the clocks are trusted. */
  atLeast?: number | null | undefined;
}

/**
 * Starts an epoch above all earlier ones, even when the database was reset and has an old one again (see `epochAt`). The
 * later of the two clocks counts. Sequences continue.
 * @throws AppError CONFLICT when both clocks are evidently behind, BAD_USER_INPUT
 */
export async function beginNewEpoch(database: Pick<Database, 'run'>, { nowMs, atLeast }: NewEpoch): Promise<number> {
  const wanted = atLeast == null ? undefined : parseInput(least, atLeast);
  const [clock] = await database.run<{ nowMs: number; newestMs: number | null }>('read', CLOCK, []);
  const latestMs = Math.max(nowMs, clock?.nowMs ?? 0);
  if (wanted === undefined && latestMs < (clock?.newestMs ?? 0))
    throw conflict('The clock is behind the newest change of the store: set it right, or say what the epoch must be at the least.'); // prettier-ignore
  const floor = Math.max(epochAt(latestMs), wanted ?? 0);
  const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [floor]);
  if (!state) throw new Error('The store has no feed state.');
  return state.epoch;
}

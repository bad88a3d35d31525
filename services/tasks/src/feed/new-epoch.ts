import { epochAt, MAX_EPOCH, explainFrozen } from '@taskmesh/store';
import { conflict, parseInput } from '@taskmesh/contracts';
import { z } from 'zod';
import type { FeedRepository } from './feed.repository.ts';

const least = z.int().min(1).max(MAX_EPOCH);

export interface NewEpoch {
  nowMs: number;
  /** An epoch above all that clients and gateways know, as checked by the operator. Without it, the clocks are trusted. */
  atLeast?: number | null | undefined;
}

/**
 * Begins an epoch above all earlier ones, even if the database was reset to an old one (see `epochAt`). Uses the later of
 * the two clocks. Sequences continue.
 * @throws AppError CONFLICT when both clocks are evidently behind or the store is frozen, BAD_USER_INPUT
 */
export async function beginNewEpoch(
  repository: Pick<FeedRepository, 'clock' | 'beginEpoch'>,
  { nowMs, atLeast }: NewEpoch,
): Promise<number> {
  const wanted = atLeast == null ? undefined : parseInput(least, atLeast);
  const clock = await repository.clock();
  const latestMs = Math.max(nowMs, clock.nowMs);
  if (wanted === undefined && latestMs < (clock.newestMs ?? 0))
    throw conflict('The clock is behind the newest change of the store: correct it, or give the minimum epoch.'); // prettier-ignore
  return explainFrozen('tasks', () => repository.beginEpoch(Math.max(epochAt(latestMs), wanted ?? 0)));
}

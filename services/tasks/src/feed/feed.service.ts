import type { TasksInternal } from '@taskmesh/internal-api';
import { conflict, parseInput, parseUuid } from '@taskmesh/contracts';
import { epochAt, explainFrozen, MAX_EPOCH } from '@taskmesh/store';
import { z } from 'zod';
import { toTaskChanged, type ChangeRow } from './change.ts';
import type { Cursors } from './cursors.ts';
import type { FeedRepository } from './feed.repository.ts';

const MAX_CHANGES = 1_000;

const owner = z.string().transform((value, ctx) => {
  const id = parseUuid(value);
  if (id === undefined) ctx.addIssue('An owner is a UUID.');
  return id ?? z.NEVER;
});

const headsInput = z.array(z.string());
const changesAfterInput = z.tuple([owner, z.int().min(0), z.int().min(1).max(MAX_CHANGES)]);
const cursorInput = z.tuple([owner, z.string()]);

export function createFeedService(
  repository: FeedRepository,
  cursors: Cursors,
): Pick<TasksInternal, 'heads' | 'changesAfter' | 'openCursor'> {
  return {
    async heads(owners, asCursors) {
      const requested = parseInput(headsInput, owners);
      const ids = requested.flatMap((name) => parseUuid(name) ?? []);
      const { epoch, heads: known } = await repository.heads(ids);
      const heads = requested.map((name) => [name, known.get(name.toLowerCase()) ?? 0] as const);
      const response = { epoch, heads: Object.fromEntries(heads), cursorKey: await cursors.keyAt(epoch) };
      if (asCursors !== true) return response;
      const sealed = heads.map(
        async ([name, sequence]) => [name, await cursors.seal(name, { epoch, sequence })] as const,
      );
      return { ...response, cursors: Object.fromEntries(await Promise.all(sealed)) };
    },

    async changesAfter(...args) {
      const [owner, sequence, limit] = parseInput(changesAfterInput, args);
      const { epoch, head, changes } = await repository.changesAfter(owner, sequence, limit);
      const next = changes[0] ? Number(changes[0].sequence) : undefined;
      // The log has no gaps, so only expired changes can be missing. A position beyond the head belongs to a lost store.
      const expired = sequence === head ? false : next !== sequence + 1;
      if (expired) return { epoch, expired, changes: [] };
      return { epoch, expired, changes: await Promise.all(changes.map((row) => toChange(row, epoch))) };
    },

    async openCursor(...args) {
      const [owner, cursor] = parseInput(cursorInput, args);
      return cursors.open(owner, cursor);
    },
  };

  async function toChange(row: ChangeRow, epoch: number) {
    const cursor = await cursors.seal(row.owner_id, { epoch, sequence: Number(row.sequence) });
    return toTaskChanged(row, epoch, cursor);
  }
}

const minEpoch = z.int().min(1).max(MAX_EPOCH);

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
  const minimum = atLeast == null ? undefined : parseInput(minEpoch, atLeast);
  const clock = await repository.clock();
  const latestMs = Math.max(nowMs, clock.nowMs);
  if (minimum === undefined && latestMs < (clock.newestMs ?? 0))
    throw conflict('The clock is behind the newest change of the store: correct it, or give the minimum epoch.'); // prettier-ignore
  return explainFrozen('tasks', () => repository.beginEpoch(Math.max(epochAt(latestMs), minimum ?? 0)));
}

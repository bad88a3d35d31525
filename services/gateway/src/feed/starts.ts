import { AppError, unavailable } from '@taskmesh/contracts';
import type { FeedPosition, Heads, TasksInternal } from '@taskmesh/internal-api';
import { backoffMs, createBulkhead, createFairQueue, pause } from '@taskmesh/service';

/** How long a new subscription waits for an unavailable tasks service before it fails. */
const RETRY_FOR_MS = 10_000;
/** How much longer it waits while others can begin. */
const QUEUE_MS = 60_000;
const RETRY = { firstMs: 200, maxMs: 1_000 };
/** How many subscriptions of one owner, and of all, begin at once: comparisons and gap fills use the same connections. */
const MAX_CONCURRENT_STARTS = { owner: 4, all: 16 };

/** Where a new reader begins, and how far the owner's log reaches. */
export interface Start {
  /** The last change that the reader has seen. */
  position: FeedPosition;
  head: FeedPosition;
  /** The cursor for a reader that came without one. */
  cursor?: string | undefined;
}

export interface StartsDeps {
  tasks: TasksInternal;
  /** Returns whether the state is of the current epoch: a response may predate a restore that we already know of. */
  applyState: (state: Heads) => boolean;
  enterEpoch: (epoch: number) => void;
  random: () => number;
}

/** Returns a function that finds where a reader begins. Retries while the tasks service is unavailable. */
export function createStarts({ tasks, applyState, enterEpoch, random }: StartsDeps) {
  const waiting = { maxWaiting: Infinity, maxWaitMs: RETRY_FOR_MS / 2, refusal: () => unavailable() };
  const ownStarts = createBulkhead({ concurrency: MAX_CONCURRENT_STARTS.owner, ...waiting });
  const starts = createFairQueue({ concurrency: MAX_CONCURRENT_STARTS.all, ...waiting });
  /** When the last reader could begin. */
  let startedMs = -Infinity;

  const findStart = async (owner: string, after: string | undefined): Promise<Start> => {
    const position = after === undefined ? undefined : await tasks.openCursor(owner, after);
    if (position === null) throw cursorExpired();
    const state = await tasks.heads([owner], after === undefined);
    if (!applyState(state)) throw unavailable();
    const { epoch, heads, cursors } = state;
    const head = { epoch, sequence: heads[owner] ?? 0 };
    if (!position) return { position: head, head, cursor: cursors?.[owner] };
    if (position.epoch !== epoch || position.sequence > head.sequence) throw cursorExpired();
    if (position.sequence < head.sequence) {
      const page = await tasks.changesAfter(owner, position.sequence, 1);
      enterEpoch(page.epoch);
      if (page.expired) throw cursorExpired();
    }
    return { position, head };
  };

  return async (owner: string, after: string | undefined, signal: AbortSignal | undefined): Promise<Start> => {
    const begunMs = performance.now();
    const run = () => starts.run(owner, () => findStart(owner, after), { signal });
    for (let failures = 1; ; failures++) {
      try {
        const start = await ownStarts.run(owner, run, { signal });
        startedMs = performance.now();
        return start;
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
        // When thousands resume at once, those at the end wait for longer. Time counts only while none of them can begin.
        const sinceMs = Math.max(begunMs, Math.min(startedMs, begunMs + QUEUE_MS));
        if (signal?.aborted || performance.now() > sinceMs + RETRY_FOR_MS) throw unavailable(undefined, error);
        await pause(backoffMs(failures, RETRY, random), signal);
      }
    }
  };
}

function cursorExpired(): AppError {
  return new AppError('CURSOR_EXPIRED', 'The cursor can no longer be used; read the list again.');
}

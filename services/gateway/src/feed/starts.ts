import { AppError, unavailable } from '@taskmesh/contracts';
import type { FeedPosition, Heads, TasksInternal } from '@taskmesh/internal-api';
import { backoffMs, createBulkhead, createFairQueue, pause } from '@taskmesh/service';

/** How long a new subscription waits for an unavailable tasks service before it fails. Its turn may take longer to come. */
const RETRY_FOR_MS = 10_000;
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
  const waiting = { maxWaiting: Infinity, refusal: () => unavailable() };
  const ownStarts = createBulkhead({ concurrency: MAX_CONCURRENT_STARTS.owner, ...waiting });
  const starts = createFairQueue({ concurrency: MAX_CONCURRENT_STARTS.all, ...waiting });
  /** When the tasks service last answered a reader, even if only that its cursor is unusable. */
  let answeredMs = -Infinity;

  /** Returns undefined when the cursor is unusable. */
  const findStart = async (owner: string, after: string | undefined): Promise<Start | undefined> => {
    const position = after === undefined ? undefined : await tasks.openCursor(owner, after);
    if (position === null) return undefined;
    const state = await tasks.heads([owner], after === undefined);
    if (!applyState(state)) throw unavailable();
    const { epoch, heads, cursors } = state;
    const head = { epoch, sequence: heads[owner] ?? 0 };
    if (!position) return { position: head, head, cursor: cursors?.[owner] };
    if (position.epoch !== epoch || position.sequence > head.sequence) return undefined;
    if (position.sequence < head.sequence) {
      const page = await tasks.changesAfter(owner, position.sequence, 1);
      enterEpoch(page.epoch);
      if (page.expired) return undefined;
    }
    return { position, head };
  };

  return async (owner: string, after: string | undefined, signal: AbortSignal | undefined): Promise<Start> => {
    const begunMs = performance.now();
    /** How long its own tries have taken, with the pauses between them, but without the time in queues. */
    let triedMs = 0;
    let turnMs = begunMs;
    const isHopeless = () => performance.now() > Math.max(begunMs, answeredMs) + RETRY_FOR_MS;
    const find = async () => {
      turnMs = performance.now();
      if (isHopeless()) throw unavailable(); // so that thousands do not wait until each has failed by itself
      const start = await findStart(owner, after);
      answeredMs = performance.now();
      if (start) return start;
      throw new AppError('CURSOR_EXPIRED', 'The cursor can no longer be used; read the list again.');
    };
    const run = () => starts.run(owner, find, { signal });
    for (let failures = 1; ; failures++) {
      try {
        return await ownStarts.run(owner, run, { signal });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
        const pauseMs = backoffMs(failures, RETRY, random);
        triedMs += performance.now() - turnMs + pauseMs;
        if (signal?.aborted || triedMs > RETRY_FOR_MS || isHopeless()) throw unavailable(undefined, error);
        await pause(pauseMs, signal);
      }
    }
  };
}

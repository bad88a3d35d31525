export interface BoundedQueue {
  /** Starts `work` when its turn comes. Undefined, without starting it, when too many are waiting already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | undefined;
  waiting(): number;
}

export interface BoundedQueueOptions {
  /** How many run at once. One less, but at least one, while others need the machine. */
  concurrency: number;
  maxWaiting: number;
  /** Whether others need the machine now. */
  othersWait: () => boolean;
}

/** Caps each rest, so that a process that was frozen for a while soon continues. */
const MAX_REST_MS = 100;

/**
 * Runs work in order, a few at a time. While others need the machine, each slot rests after its work for as long as
 * that took, leaving them half of each core, however long the queue is.
 */
export function createBoundedQueue({ concurrency, maxWaiting, othersWait }: BoundedQueueOptions): BoundedQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  const hasPlace = () => running < (othersWait() ? Math.max(1, concurrency - 1) : concurrency);

  const startWaiting = () => {
    while (waiting.length > 0 && hasPlace()) {
      running++;
      waiting.shift()?.();
    }
  };

  const turn = (): Promise<void> | undefined => {
    startWaiting(); // there may be more slots now that others are gone
    if (hasPlace()) {
      running++;
      return Promise.resolve();
    }
    if (waiting.length >= maxWaiting) return undefined;
    return new Promise((resolve) => waiting.push(resolve));
  };
  const release = () => {
    running--;
    startWaiting();
  };

  /** The result is returned before the rest. */
  const workAndRest = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      if (othersWait()) setTimeout(release, Math.min(performance.now() - startMs, MAX_REST_MS));
      else release();
    }
  };

  return {
    run: (work) => turn()?.then(() => workAndRest(work)),
    waiting: () => waiting.length,
  };
}

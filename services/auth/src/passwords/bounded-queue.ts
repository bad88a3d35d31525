export interface BoundedQueue {
  /** Starts `work` when its turn comes; undefined, and nothing happens, when too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | undefined;
  waiting(): number;
}

export interface BoundedQueueOptions {
  /** Works at once while nobody else needs the machine; beside others one less, but at least one. */
  concurrency: number;
  maxWaiting: number;
  /** Whether others need the machine now. */
  othersWait: () => boolean;
}

/** However long the work before took: a process that was frozen meanwhile goes on soon. */
const MAX_REST_MS = 100;

/**
 * Works in order, a few at once. Beside others each place rests after a work for as long as the work took, so that half of
 * each core is left to them, however many works wait.
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
    startWaiting(); // there may be places since others are gone
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

  /** The result does not wait for the rest. */
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

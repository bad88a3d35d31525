export interface BoundedQueue {
  /** Starts `work` when its turn comes; undefined, and nothing happens, when too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | undefined;
  waiting(): number;
}

/** However long the work before took: a process that was frozen meanwhile goes on soon. */
const MAX_REST_MS = 100;

/**
 * At most `concurrency` works at once, the others wait in order, at most `maxWaiting` of them. After each work its place
 * rests for as long as the work took, so that half of each core is left to others, however many wait.
 */
export function createBoundedQueue(limits: { concurrency: number; maxWaiting: number }): BoundedQueue {
  const { concurrency, maxWaiting } = limits;
  const waiting: (() => void)[] = [];
  let running = 0;

  const turn = (): Promise<void> | undefined => {
    if (running < concurrency) {
      running++;
      return Promise.resolve();
    }
    if (waiting.length >= maxWaiting) return undefined;
    return new Promise((resolve) => waiting.push(resolve));
  };
  /** Whoever waits takes over the place, so `running` stays as it is. */
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else running--;
  };

  /** The result does not wait for the rest. */
  const workAndRest = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      setTimeout(release, Math.min(performance.now() - startMs, MAX_REST_MS));
    }
  };

  return {
    run: (work) => turn()?.then(() => workAndRest(work)),
    waiting: () => waiting.length,
  };
}

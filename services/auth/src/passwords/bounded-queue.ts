export interface BoundedQueue {
  /** Starts `work` when its turn comes; undefined, and nothing happens, when too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | undefined;
  waiting(): number;
}

/** At most `concurrency` works at once, the others wait in order, at most `maxWaiting` of them. */
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
  const done = () => {
    const next = waiting.shift();
    if (next) next();
    else running--;
  };

  return {
    run: (work) => turn()?.then(work).finally(done),
    waiting: () => waiting.length,
  };
}

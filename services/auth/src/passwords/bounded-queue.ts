export interface BoundedQueue {
  /** Starts `work` when its turn comes. Undefined, without starting it, when too many are waiting already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | undefined;
  waiting(): number;
}

/** Runs work in order, at most `concurrency` at a time. */
export function createBoundedQueue(limits: { concurrency: number; maxWaiting: number }): BoundedQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  const turn = (): Promise<void> | undefined => {
    if (running === limits.concurrency) {
      if (waiting.length >= limits.maxWaiting) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    }
    running++;
    return Promise.resolve();
  };

  /** The next one inherits the slot. */
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else running--;
  };

  return {
    run: (work) => turn()?.then(work).finally(release),
    waiting: () => waiting.length,
  };
}

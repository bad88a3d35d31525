/** Bounds how many works of one key run at once. The others of that key wait in order, those of other keys run. */
export interface Bulkhead {
  /** Rejects with the refusal, and never starts `work`, when too many wait already, or when it waits for too long. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

export interface BulkheadOptions {
  /** How many works of a key run at once. */
  concurrency: number;
  /** How many others of a key wait. @default any number */
  maxWaiting?: number;
  maxWaitMs: number;
  refusal: () => Error;
}

interface Share {
  running: number;
  /** Start the works that wait, in order. */
  waiting: Set<() => void>;
}

export function createBulkhead(options: BulkheadOptions): Bulkhead {
  const { concurrency, maxWaiting = Infinity, maxWaitMs, refusal } = options;
  const shares = new Map<string, Share>();

  const turnIn = ({ waiting }: Share) =>
    new Promise<void>((resolve, reject) => {
      if (waiting.size >= maxWaiting) return reject(refusal());
      const start = () => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(refusal());
      }, maxWaitMs);
      waiting.add(start);
    });

  return {
    async run(key, work) {
      const share = shares.get(key) ?? { running: 0, waiting: new Set() };
      shares.set(key, share);
      if (share.running < concurrency) share.running++;
      else await turnIn(share);
      try {
        return await work();
      } finally {
        const [startNext] = share.waiting;
        if (startNext) startNext();
        else if (--share.running === 0) shares.delete(key);
      }
    },
  };
}

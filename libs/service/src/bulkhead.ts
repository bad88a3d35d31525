/** Bounds how many works of one key run at once. The others of that key wait in order, those of other keys run. */
export interface Bulkhead {
  /**
   * Rejects with the refusal, and never starts `work`, when too many wait already, when it waits for too long, or when `signal` is
   * aborted before it starts.
   */
  run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
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

  const turnIn = ({ waiting }: Share, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      if (waiting.size >= maxWaiting) return reject(refusal());
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', refuse);
        waiting.delete(start);
      };
      const start = () => {
        leave();
        resolve();
      };
      const refuse = () => {
        leave();
        reject(refusal());
      };
      const timer = setTimeout(refuse, maxWaitMs);
      signal?.addEventListener('abort', refuse);
      waiting.add(start);
    });

  return {
    async run(key, work, signal) {
      if (signal?.aborted) throw refusal();
      const share = shares.get(key) ?? { running: 0, waiting: new Set() };
      shares.set(key, share);
      if (share.running < concurrency) share.running++;
      else await turnIn(share, signal);
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

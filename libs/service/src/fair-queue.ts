/** Runs few works at once. Callers take turns: one who wants a lot waits behind those who want little. */
export interface FairQueue {
  /** Rejects with the refusal, without starting `work`, when too many wait, or when it waits for too long. */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>;
  /** How many works wait, of all callers. */
  waiting(): number;
}

export interface FairQueueOptions {
  concurrency: number;
  /** Of all callers. When there are so many, the newest of the caller with the most makes room for others. */
  maxWaiting: number;
  /** @default any time */
  maxWaitMs?: number;
  /** Works that wait for the same are rejected with any work's failure. @default false */
  failsTogether?: boolean;
  refusal: () => Error;
}

interface Waiting {
  start: () => void;
  refuse: (error: unknown) => void;
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { concurrency, maxWaiting, maxWaitMs, failsTogether = false, refusal } = options;
  /** By caller, the one whose turn is next first. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;

  const hasRoomFor = (own: Waiting[]): boolean => {
    if (waiting < maxWaiting) return true;
    const longest = [...queues.values()].reduce((one, other) => (other.length > one.length ? other : one), own);
    if (longest.length <= own.length + 1) return false;
    longest.pop()?.refuse(refusal());
    waiting--;
    return true;
  };

  const turn = (caller: string): Promise<void> => {
    if (running < concurrency) {
      running++;
      return Promise.resolve();
    }
    const own = queues.get(caller) ?? [];
    if (!hasRoomFor(own)) return Promise.reject(refusal());
    queues.set(caller, own);
    waiting++;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        const others = (queues.get(caller) ?? []).filter((each) => each !== entry);
        if (others.length > 0) queues.set(caller, others);
        else queues.delete(caller);
        waiting--;
        reject(refusal());
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
      const entry = {
        start: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      own.push(entry);
    });
  };

  const startNext = () => {
    const [next] = queues;
    if (!next) return void running--;
    const [caller, own] = next;
    queues.delete(caller);
    const [first, ...others] = own;
    if (others.length > 0) queues.set(caller, others);
    waiting--;
    first?.start();
  };

  const refuseAll = (error: unknown) => {
    const all = [...queues.values()].flat();
    queues.clear();
    waiting = 0;
    for (const { refuse } of all) refuse(error);
  };

  return {
    async run(caller, work) {
      await turn(caller);
      try {
        return await work();
      } catch (error) {
        if (failsTogether) refuseAll(error);
        throw error;
      } finally {
        startNext();
      }
    },
    waiting: () => waiting,
  };
}

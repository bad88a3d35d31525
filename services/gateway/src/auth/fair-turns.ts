/** Runs few works at once. Callers take turns: one who wants a lot waits behind those who want little. */
export interface FairTurns {
  /** Rejects with the refusal, without starting `work`, when too many wait; with any work's failure, those that wait for the same. */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>;
}

export interface FairTurnsOptions {
  concurrency: number;
  /** Of all callers. When there are so many, the newest of the caller with the most makes room for others. */
  mostWaiting: number;
  refusal: () => Error;
}

interface Waiting {
  start: () => void;
  refuse: (error: unknown) => void;
}

export function createFairTurns({ concurrency, mostWaiting, refusal }: FairTurnsOptions): FairTurns {
  /** By caller, the one whose turn is next first. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;

  const hasRoomFor = (own: Waiting[]): boolean => {
    if (waiting < mostWaiting) return true;
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
    return new Promise((start, refuse) => own.push({ start, refuse }));
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
        refuseAll(error);
        throw error;
      } finally {
        startNext();
      }
    },
  };
}

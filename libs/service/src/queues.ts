import { siteOf } from './network.ts';

/** Bounds how much work of one key runs at once. The others of that key wait in order, those of other keys run. */
export interface Bulkhead {
  /**
   * Rejects with the refusal, and never starts `work`, when too many wait already, when it waits for too long, or when `signal` is
   * aborted before it starts. `weight` is how many ordinary works it stands for, at most `concurrency`.
   */
  run<Result>(
    key: string,
    work: () => Promise<Result>,
    options?: { signal?: AbortSignal | undefined; weight?: number },
  ): Promise<Result>;
}

export interface BulkheadOptions {
  /** How many works of a key run at once, by their weight. */
  concurrency: number;
  /** How many others of a key wait. @default any number */
  maxWaiting?: number;
  maxWaitMs: number;
  refusal: () => Error;
}

interface Share {
  /** By weight. */
  running: number;
  /** In order. */
  waiting: Set<{ weight: number; start: () => void }>;
}

export function createBulkhead(options: BulkheadOptions): Bulkhead {
  const { concurrency, maxWaiting = Infinity, maxWaitMs, refusal } = options;
  const shares = new Map<string, Share>();

  /** Starts those that fit by now. */
  const startNext = (key: string, share: Share) => {
    for (const { weight, start } of share.waiting) {
      if (share.running + weight > concurrency) return;
      share.running += weight;
      start();
    }
    if (share.running === 0) shares.delete(key);
  };

  const turnIn = (key: string, share: Share, { weight, signal }: { weight: number; signal: AbortSignal | undefined }) =>
    new Promise<void>((resolve, reject) => {
      const { waiting } = share;
      if (waiting.size >= maxWaiting) return reject(refusal());
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', refuse);
        waiting.delete(entry);
      };
      const refuse = () => {
        leave();
        reject(refusal());
        startNext(key, share); // those behind it may be lighter
      };
      const timer = setTimeout(refuse, maxWaitMs);
      const entry = {
        weight,
        start() {
          leave();
          resolve();
        },
      };
      signal?.addEventListener('abort', refuse);
      waiting.add(entry);
    });

  return {
    async run(key, work, { signal, weight: given = 1 } = {}) {
      if (signal?.aborted) throw refusal();
      const weight = Math.min(given, concurrency);
      const share = shares.get(key) ?? { running: 0, waiting: new Set() };
      shares.set(key, share);
      if (share.waiting.size === 0 && share.running + weight <= concurrency) share.running += weight;
      else await turnIn(key, share, { weight, signal });
      try {
        return await work();
      } finally {
        share.running -= weight;
        startNext(key, share);
      }
    },
  };
}

/** Runs few works at once. Callers take turns: one who wants a lot waits behind those who want little. */
export interface FairQueue {
  /**
   * Callers are networks as `networkOf` has them. Those of one site take the turns of one: a site has 65,536 of them.
   * Rejects with the refusal, without starting `work`, when too many wait, or when it waits for too long.
   */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>;
  /** How many works wait, of all callers. */
  waiting(): number;
}

export interface FairQueueOptions {
  concurrency: number;
  /** Of all callers. When there are so many, the newest of the site with the most, and there of the caller, makes room. */
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
  /** By site and caller, those whose turn is next first. */
  const sites = new Map<string, Map<string, Set<Waiting>>>();
  let running = 0;
  let waiting = 0;

  const leave = (caller: string, entry: Waiting) => {
    const site = siteOf(caller);
    const callers = sites.get(site);
    const own = callers?.get(caller);
    if (!callers || !own?.delete(entry)) return;
    waiting--;
    if (own.size === 0) callers.delete(caller);
    if (callers.size === 0) sites.delete(site);
  };

  const hasRoomFor = (caller: string): boolean => {
    if (waiting < maxWaiting) return true;
    const ownSite = sites.get(siteOf(caller)) ?? new Map<string, Set<Waiting>>();
    const largestSite = [...sites.values()].reduce(
      (one, other) => (sizeOf(other) > sizeOf(one) ? other : one),
      ownSite,
    );
    const isOthers = sizeOf(largestSite) > sizeOf(ownSite) + 1;
    const [[longest, queue] = [caller, new Set<Waiting>()]] = [...(isOthers ? largestSite : ownSite)].toSorted(
      ([, one], [, other]) => other.size - one.size,
    );
    const newest = [...queue].at(-1);
    if (!newest || (!isOthers && queue.size <= (ownSite.get(caller)?.size ?? 0) + 1)) return false;
    leave(longest, newest);
    newest.refuse(refusal());
    return true;
  };

  const turn = (caller: string): Promise<void> => {
    if (running < concurrency) {
      running++;
      return Promise.resolve();
    }
    if (!hasRoomFor(caller)) return Promise.reject(refusal());
    const site = siteOf(caller);
    const callers = sites.get(site) ?? new Map<string, Set<Waiting>>();
    const own = callers.get(caller) ?? new Set();
    sites.set(site, callers.set(caller, own));
    waiting++;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        leave(caller, entry);
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
      own.add(entry);
    });
  };

  const startNext = () => {
    for (const [site, callers] of sites)
      for (const [caller, [first]] of callers) {
        if (!first) continue;
        leave(caller, first);
        moveToEnd(callers, caller);
        moveToEnd(sites, site);
        return first.start();
      }
    running--;
  };

  const refuseAll = (error: unknown) => {
    const all = [...sites.values()].flatMap((callers) => [...callers.values()].flatMap((own) => [...own]));
    sites.clear();
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

function sizeOf(callers: Map<string, Set<Waiting>>): number {
  let size = 0;
  for (const own of callers.values()) size += own.size;
  return size;
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value !== undefined && map.delete(key)) map.set(key, value);
}

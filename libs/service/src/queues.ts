import { siteOf } from './network.ts';

export interface BulkheadOptions {
  /** The total weight of the work that runs at once, per key. */
  concurrency: number;
  /** How many pieces of work may wait, per key. @default any number */
  maxWaiting?: number;
  /** @default any time */
  maxWaitMs?: number;
  refusal: () => Error;
}

interface Share {
  /** Total weight. */
  running: number;
  /** In order, with their weights. Absent while nothing has waited: a map for each piece of work costs as much as the rest. */
  waiting?: Map<Waiting, number>;
}

/** Bounds how much work runs at once per key. Excess work of a key waits in order and does not hold up other keys. */
export function createBulkhead({ concurrency, maxWaiting = Infinity, maxWaitMs, refusal }: BulkheadOptions) {
  const shares = new Map<string, Share>();

  /** Starts waiting work that fits now. */
  const startNext = (key: string, share: Share) => {
    for (const [{ start }, weight] of share.waiting ?? []) {
      if (share.running + weight > concurrency) return;
      share.running += weight;
      start();
    }
    if (share.running === 0 && shares.get(key) === share) shares.delete(key);
  };

  const waitForRoom = async (key: string, share: Share, { signal, weight }: { signal: Signal; weight: number }) => {
    const waiting = (share.waiting ??= new Map<Waiting, number>());
    if (waiting.size >= maxWaiting) throw refusal();
    const enter = (entry: Waiting) => {
      waiting.set(entry, weight);
      return () => waiting.delete(entry);
    };
    await untilStarted({ maxWaitMs, refusal, signal }, enter).catch((error: unknown) => {
      startNext(key, share); // the work after it may be lighter
      throw error;
    });
  };

  return {
    /**
     * Rejects with the refusal, and never starts `work`, when too many others are waiting, when it waits too long, or when
     * `signal` is aborted before the start. `weight` is how many places `work` occupies, at most `concurrency`.
     */
    async run<Result>(
      key: string,
      work: () => Promise<Result>,
      { signal, weight: requested = 1 }: { signal?: Signal; weight?: number } = {},
    ): Promise<Result> {
      if (signal?.aborted) throw refusal();
      const weight = Math.min(requested, concurrency);
      const share: Share = shares.get(key) ?? { running: 0 };
      shares.set(key, share);
      if (!share.waiting?.size && share.running + weight <= concurrency) share.running += weight;
      else await waitForRoom(key, share, { signal, weight });
      try {
        return await work();
      } finally {
        share.running -= weight;
        startNext(key, share);
      }
    },
  };
}

/**
 * Bounds how much work runs at once per network (from `networkOf`), and per site: an IPv6 site has 65,536 networks. An IPv4 address
 * is both.
 */
export function createNetworkBulkhead({ ofSite, ...options }: BulkheadOptions & { ofSite: number }) {
  const networks = createBulkhead(options);
  const sites = createBulkhead({ ...options, concurrency: ofSite });
  return {
    /** Like `run` of `createBulkhead`. */
    run<Result>(network: string, work: () => Promise<Result>, limits?: { signal?: Signal; weight?: number }) {
      const site = siteOf(network);
      return networks.run(network, site === network ? work : () => sites.run(site, work, limits), limits);
    },
  };
}

/** Limits how much work runs at once. Callers take turns, so that heavy users do not delay light ones. */
export type FairQueue = ReturnType<typeof createFairQueue>;

export interface FairQueueOptions {
  concurrency: number;
  /** For all callers together. When full, the newest work of the busiest caller at the busiest site is refused to make room. */
  maxWaiting: number;
  /** @default any time */
  maxWaitMs?: number;
  /** Whether the failure of one piece of work rejects all that are waiting. @default false */
  failsTogether?: boolean;
  refusal: () => Error;
}

export function createFairQueue(options: FairQueueOptions) {
  const { concurrency, maxWaiting, failsTogether = false, refusal } = options;
  /** By site and caller; the next in turn comes first. */
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
    const [queue = new Set<Waiting>()] = [...(isOthers ? largestSite : ownSite).values()].toSorted(
      (one, other) => other.size - one.size,
    );
    const newest = [...queue].at(-1);
    if (!newest || (!isOthers && queue.size <= (ownSite.get(caller)?.size ?? 0) + 1)) return false;
    newest.refuse(refusal());
    return true;
  };

  const waitForTurn = async (caller: string, { signal, maxWaitMs = options.maxWaitMs }: TurnOptions): Promise<void> => {
    if (running < concurrency) return void running++;
    if (!hasRoomFor(caller)) throw refusal();
    const site = siteOf(caller);
    const callers = sites.get(site) ?? new Map<string, Set<Waiting>>();
    const own = callers.get(caller) ?? new Set();
    sites.set(site, callers.set(caller, own));
    await untilStarted({ maxWaitMs, refusal, signal }, (entry) => {
      own.add(entry);
      waiting++;
      return () => leave(caller, entry);
    });
  };

  const startNext = () => {
    for (const [site, callers] of sites)
      for (const [caller, [first]] of callers) {
        if (!first) continue;
        first.start();
        moveToEnd(callers, caller);
        return moveToEnd(sites, site);
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
    /**
     * Callers are networks (from `networkOf`). All networks of a site share one turn, because a site has 65,536 of them.
     * Rejects with the refusal, without starting `work`, when too many are waiting, when it waits too long, or when `signal`
     * is aborted before it starts.
     */
    async run<Result>(caller: string, work: () => Promise<Result>, turn: TurnOptions = {}): Promise<Result> {
      if (turn.signal?.aborted) throw refusal();
      await waitForTurn(caller, turn);
      try {
        return await work();
      } catch (error) {
        if (failsTogether) refuseAll(error);
        throw error;
      } finally {
        startNext();
      }
    },
    /** How much work is waiting, of all callers. */
    waiting: (): number => waiting,
  };
}

type Signal = AbortSignal | undefined;

interface TurnOptions {
  signal?: Signal;
  /** @default that of the queue */
  maxWaitMs?: number | undefined;
}

interface Waiting {
  start: () => void;
  refuse: (error: unknown) => void;
}

interface WaitOptions extends Pick<FairQueueOptions, 'maxWaitMs' | 'refusal'> {
  signal: Signal;
}

/** Waits in a queue until started or refused. `enter` adds the entry, and returns a function that removes it. */
function untilStarted(
  { maxWaitMs, refusal, signal }: WaitOptions,
  enter: (entry: Waiting) => () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      leave();
      then();
    };
    const entry = { start: () => settle(resolve), refuse: (error: unknown) => settle(() => reject(error)) };
    const giveUp = () => entry.refuse(refusal());
    const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, Math.max(0, maxWaitMs));
    signal?.addEventListener('abort', giveUp);
    const leave = enter(entry);
  });
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

/** Adds to a key's count and returns the new count. An absent key counts as 0; a count of 0 is deleted. */
export function count<Key>(counts: Map<Key, number>, key: Key, more: number): number {
  const number = (counts.get(key) ?? 0) + more;
  if (number > 0) counts.set(key, number);
  else counts.delete(key);
  return number;
}

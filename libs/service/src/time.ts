import { v7 } from 'uuid';

/** Returns Unix milliseconds. */
export interface Clock {
  now(): number;
}

/** For durations: unlike the system clock, it is never set. Its origin is arbitrary. */
export const monotonicClock: Clock = { now: () => performance.now() };

export const systemClock: Clock = { now: () => Date.now() };

export interface Ids {
  next(): string;
}

/** UUIDs that sort by creation, even within a millisecond, where Node's `randomUUIDv7` keeps no order. */
export const timeOrderedIds: Ids = { next: () => v7() };

export interface Backoff {
  /** The pause after the first failure; it doubles with each further failure. */
  firstMs: number;
  maxMs: number;
}

/** Returns the pause after `failures` in a row; `random` (0 to 1) spreads it over its upper half, against stampedes. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random?: () => number): number {
  const wholeMs = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), maxMs);
  return random ? wholeMs * (0.5 + random() / 2) : wholeMs;
}

/** Resolves after `ms`, or as soon as the signal aborts. Uses the global timers, which simulations replace. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}

/**
 * Rejects with `late` when `work` does not finish in time; the work continues, and its outcome is ignored. A response that
 * arrived while this process was busy still counts, although timers run before it is read.
 */
export async function withDeadline<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  late: () => Error,
): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let lastCheck: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (lastCheck = setImmediate(() => reject(late()))), timeoutMs);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
    clearImmediate(lastCheck);
  }
}

/** Waits at most `timeoutMs`; returns whether `work` finished in time. @throws what the work throws in time */
export async function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = new Error();
  return withDeadline(work, timeoutMs, () => late).then(
    () => true,
    (error: unknown) => {
      if (error !== late) throw error;
      return false;
    },
  );
}

/**
 * For a query that may take long or never finish. It runs once at a time, however many callers wait. Each of them waits at
 * most `timeoutMs`, and gets undefined if the query has failed or not finished by then.
 */
export function createTimedQuery<Result>(
  timeoutMs: number,
  query: () => Promise<Result>,
): () => Promise<Result | undefined> {
  let running: Promise<Result | undefined> | undefined;
  return async () => {
    running ??= query()
      .catch(() => undefined)
      .finally(() => (running = undefined));
    const waiting = running;
    return (await settlesWithin(waiting, timeoutMs)) ? waiting : undefined;
  };
}

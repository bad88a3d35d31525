import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** The pause after this many consecutive failures. `random` (0 to 1) adds jitter over the upper half, against stampedes. */
export function backoffMs(failures: number, random: () => number): number {
  const wholeMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(failures - 1, 0), MAX_PAUSE_MS);
  return wholeMs * (0.5 + random() / 2);
}

/** Resolves after this time, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Rejects when `work` is not done in time. A result that arrived while this process was busy still counts. */
export async function withDeadline<Result>(work: Promise<Result>, timeoutMs: number, late: string): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (lastLook = setImmediate(() => reject(new Error(late)))), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    clearImmediate(lastLook);
  }
}

/** How long to wait before giving up. */
export interface Timeouts {
  /** For a restore, backup or verification that is already running elsewhere. */
  busyMs: number;
  /** For work on a store that shows no progress; large stores get more. */
  stallMs: number;
  /** For writing transactions, before a swap. */
  writersMs: number;
  /** For the renames of a swap, of which each waits 5 s (a constant in PostgreSQL) for other sessions to leave, then fails. */
  renameMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = { busyMs: 5_000, stallMs: 30_000, writersMs: 20_000, renameMs: 8_000 };

/** Something took too long or made no progress, because of the archive or of a slow disk, server or network. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError';
}

/** A read-only statement shows no progress until it ends. No usable server reads more slowly than this. */
const SCAN_BYTES_PER_MS = 16 * 1024;
const CHECK_EVERY_MS = 250;

export type StallDetection = ReturnType<typeof createStallDetection>;

/** Work has stalled when it shows no progress for `stallMs` plus the time for a full scan of its data. */
export function createStallDetection(stallMs: number) {
  let at = performance.now();
  let last = { bytes: 0, sessions: '' };
  return {
    /** Call it without arguments for other progress. */
    noteProgress(bytes = -1, sessions = '') {
      if (bytes === last.bytes && sessions === last.sessions) return;
      if (bytes >= 0) last = { bytes, sessions };
      at = performance.now();
    },
    hasStalled: () => performance.now() - at > stallMs + last.bytes / SCAN_BYTES_PER_MS,
  };
}

/** Aborts `stop` when the work has stalled. Returns an interval to clear when the work ends. */
export function abortOnStall(stop: AbortController, stalls: StallDetection): NodeJS.Timeout {
  const check = () => stalls.hasStalled() && stop.abort(new TooSlowError('There was no progress.'));
  return setInterval(check, CHECK_EVERY_MS);
}

/** Rejects as soon as the signal aborts, even while `work` is waiting. */
export function rejectOnAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', end));
}

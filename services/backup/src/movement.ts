import { TooSlowError } from './too-slow-error.ts';

/** A statement that only reads shows nothing until its end; no server that is fit for work reads slower. */
const SCAN_BYTES_PER_MS = 16 * 1024;
const LOOK_EVERY_MS = 250;

export type Movement = ReturnType<typeof createMovement>;

/** Work stalls that has shown nothing for `stallMs`, and for as long as a scan of all that it works on takes. */
export function createMovement(stallMs: number) {
  let at = performance.now();
  let last = { bytes: 0, sessions: '' };
  return {
    /** Without arguments: something has moved elsewhere. */
    see(bytes = -1, sessions = '') {
      if (bytes === last.bytes && sessions === last.sessions) return;
      if (bytes >= 0) last = { bytes, sessions };
      at = performance.now();
    },
    hasStalled: () => performance.now() - at > stallMs + last.bytes / SCAN_BYTES_PER_MS,
  };
}

/** To be cleared when the work has ended. */
export function abortOnStall(stop: AbortController, movement: Movement): NodeJS.Timeout {
  const look = () => movement.hasStalled() && stop.abort(new TooSlowError('Nothing moves any more.'));
  return setInterval(look, LOOK_EVERY_MS);
}

/** Does not wait any longer when the signal fires, whatever `work` hangs on. */
export function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', end));
}

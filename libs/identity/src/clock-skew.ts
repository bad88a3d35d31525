import type { Clock, Log } from '@taskmesh/service';

/** Clocks of services may differ by this much, in both directions. */
export const CLOCK_SKEW_S = 30;
const WARNING_EVERY_MS = 60_000;

/** Warns about a token of the future, at most once a minute. `iat` is its time of issue. */
export function createSkewWarning(clock: Clock, log: Log) {
  let nextAtMs = -Infinity;
  return (iat: unknown): void => {
    const nowMs = clock.now();
    if (typeof iat !== 'number' || iat <= nowMs / 1000 + CLOCK_SKEW_S || nowMs < nextAtMs) return;
    nextAtMs = nowMs + WARNING_EVERY_MS;
    log.warn(
      { aheadSeconds: Math.round(iat - nowMs / 1000) },
      'a token is from the future: the clocks of services differ',
    );
  };
}

/** How the pause grows while something fails again and again. */
export interface Backoff {
  /** The pause after the first failure; it doubles with each one that follows. */
  firstMs: number;
  longestMs: number;
}

/** How long to wait after so many failures in a row. With `random` (0 to 1), spread over its upper half: many do not come back at once. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, random?: () => number): number {
  const wholeMs = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
  return random ? wholeMs * (0.5 + random() / 2) : wholeMs;
}

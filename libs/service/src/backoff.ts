export interface Backoff {
  /** The pause after the first failure; it doubles with each further one. */
  firstMs: number;
  longestMs: number;
}

/** The pause after that many failures in a row; `random` (0 to 1) spreads it over its upper half, against stampedes. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff, random?: () => number): number {
  const wholeMs = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
  return random ? wholeMs * (0.5 + random() / 2) : wholeMs;
}

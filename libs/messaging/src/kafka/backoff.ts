const FIRST_MS = 50;
const LONGEST_MS = 1_000;

/** How long to wait after so many failures in a row: doubling, at most a second, spread over its upper half. */
export function backoffMs(failures: number, random: () => number): number {
  return Math.min(FIRST_MS * 2 ** Math.max(failures - 1, 0), LONGEST_MS) * (0.5 + random() / 2);
}

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Far below the type's maximum, which is some decades further. */
export const LARGEST_EPOCH = 2_000_000_000;

/**
 * The epoch that a log may begin at that time. It follows the clock, so that it never repeats one that was lost when a
 * database was reset; restores, which add one, take longer than its second.
 */
export function epochAt(ms: number): number {
  return Math.min(Math.floor((ms - FIRST_MS) / 1_000), LARGEST_EPOCH);
}

const FIRST_MS = Date.parse('2026-01-01T00:00Z');
/** Reached in 2089. Below the maximum of the SQL type, to leave room for further epochs. */
export const MAX_EPOCH = 2_000_000_000;

/**
 * Returns the epoch for a log that begins at that time. It follows the clock, so that it never repeats an epoch that was
 * lost when a database was reset. Restores, which add 1, take longer than the second that one epoch stands for.
 */
export function epochAt(ms: number): number {
  return Math.min(Math.floor((ms - FIRST_MS) / 1_000), MAX_EPOCH);
}

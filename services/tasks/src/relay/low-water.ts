export interface WritersSeen {
  /** The last id taken. */
  last: number;
  /** Transactions under way that may write to the log. */
  writers: string[];
}

/**
 * The id below which a part of the log need no longer be read. Without it, each read scans the entries of published
 * changes, which stay in the index for as long as an old snapshot may need them.
 *
 * Ids are taken before the commit, so a low one may appear after a high one. An id is settled once all transactions
 * have ended that were under way at some moment after it was taken: then its row is visible, or will never be.
 */
export function createLowWater() {
  const lowest = new Map<number, number>();
  let settledTo = 0;
  let taken: number | undefined;
  let awaited: { last: number; writers: Set<string> } | undefined;
  let isStirred = true;
  let isReading = false;

  return {
    /** Whether it is worth looking at the writers: changes arrived, or are awaited. */
    isMoving: () => isStirred || taken !== undefined || awaited !== undefined,
    /** Call it repeatedly, and not during a read. */
    see({ last, writers }: WritersSeen): void {
      isStirred = false;
      const running = new Set(writers);
      if (awaited && [...awaited.writers].every((writer) => !running.has(writer))) {
        settledTo = awaited.last;
        awaited = undefined;
      }
      // Transactions under way now may have taken that id, which was the last at an earlier moment.
      if (!awaited && taken !== undefined) awaited = { last: taken, writers: running };
      taken = last > (awaited?.last ?? settledTo) ? last : undefined;
    },
    /** Where a read of these parts begins. */
    begin(parts: number[]): number[] {
      isReading = true;
      return parts.map((part) => lowest.get(part) ?? 0);
    },
    /** What that read found, in order for each part: all below the first row of a part was dealt with, or is someone else's. */
    end(parts: number[], rows: { id: string; part: number }[]): void {
      if (rows.length > 0) isStirred = true;
      if (!isReading) return;
      const first = new Map(rows.toReversed().map(({ id, part }) => [part, Number(id)]));
      for (const part of parts) {
        const reached = Math.min((first.get(part) ?? Infinity) - 1, settledTo);
        lowest.set(part, Math.max(lowest.get(part) ?? 0, reached));
      }
    },
    /** The next read begins with this row at the latest. */
    lower({ id, part }: { id: string; part: number }): void {
      lowest.set(part, Math.min(lowest.get(part) ?? 0, Number(id) - 1));
    },
    /** Older changes may have appeared: the next read begins at the front, and one under way counts for nothing. */
    restart(): void {
      lowest.clear();
      isReading = false;
    },
  };
}

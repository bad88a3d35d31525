export interface WritersSeen {
  /** The last id that was assigned. */
  last: number;
  /** Running transactions that may write to the log. */
  writers: string[];
}

/**
 * Tracks the id below which a part of the log need no longer be read. Without it, each read scans the entries of published
 * changes, which stay in the index for as long as an old snapshot may need them.
 *
 * Ids are assigned before the commit, so a low id may appear after a high one. An id is settled once all transactions that
 * were running at some moment after its assignment have ended: then its row is visible, or never will be.
 */
export function createLowWater() {
  const lowest = new Map<number, number>();
  let settledTo = 0;
  let assigned: number | undefined;
  let awaited: { last: number; writers: Set<string> } | undefined;
  let hasNewChanges = true;
  let isReading = false;

  return {
    /** Whether it is worth reading the writers: changes have arrived or are awaited. */
    isMoving: () => hasNewChanges || assigned !== undefined || awaited !== undefined,
    /** Call this repeatedly, but not during a read. */
    update({ last, writers }: WritersSeen): void {
      hasNewChanges = false;
      const running = new Set(writers);
      if (awaited && [...awaited.writers].every((writer) => !running.has(writer))) {
        settledTo = awaited.last;
        awaited = undefined;
      }
      // `assigned` was the last id at an earlier moment; transactions that run now may have been assigned it.
      if (!awaited && assigned !== undefined) awaited = { last: assigned, writers: running };
      assigned = last > (awaited?.last ?? settledTo) ? last : undefined;
    },
    /** Begins a read of these parts, and returns where each of them starts. */
    begin(parts: number[]): number[] {
      isReading = true;
      return parts.map((part) => lowest.get(part) ?? 0);
    },
    /** Ends the read with its rows, in order for each part. Changes below a part's first row are published or belong to blocked owners. */
    end(parts: number[], rows: { id: string; part: number }[]): void {
      if (rows.length > 0) hasNewChanges = true;
      if (!isReading) return;
      const first = new Map(rows.toReversed().map(({ id, part }) => [part, Number(id)]));
      for (const part of parts) {
        const reached = Math.min((first.get(part) ?? Infinity) - 1, settledTo);
        lowest.set(part, Math.max(lowest.get(part) ?? 0, reached));
      }
    },
    /** Makes the next read start at this row or earlier. */
    lower({ id, part }: { id: string; part: number }): void {
      lowest.set(part, Math.min(lowest.get(part) ?? 0, Number(id) - 1));
    },
    /** Call this when older changes may have appeared: the next read starts from the beginning, and a running one is ignored. */
    restart(): void {
      lowest.clear();
      isReading = false;
    },
  };
}

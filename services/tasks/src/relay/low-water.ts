export interface WritersSeen {
  /** The last id taken. */
  last: number;
  /** Transactions under way that may write to the log. */
  writers: string[];
}

interface ReadRow {
  id: string;
  part: number;
  /** True of the last row of a part when more may follow it than was read. */
  is_cut?: boolean;
}

interface Reading {
  parts: number[];
  rows: ReadRow[];
  limit: number;
  settledTo: number;
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
  /** Read, unpublished, and remembered elsewhere; above the low water they would be read again and again. */
  const passed = new Map<string, number>();
  const done = new Set<string>();
  let settledTo = 0;
  let taken: number | undefined;
  let awaited: { last: number; writers: Set<string> } | undefined;
  let reading: Reading | undefined;
  let isStirred = true;

  const lookBack = ({ parts, rows, limit, settledTo: settled }: Reading) => {
    const byPart = Map.groupBy(rows, ({ part }) => part);
    for (const part of parts) {
      const ofPart = byPart.get(part) ?? [];
      const open = ofPart.find(({ id }) => !done.has(id) && !passed.has(id));
      const isWhole = ofPart.length < limit && !ofPart.at(-1)?.is_cut;
      const end = open ? Number(open.id) - 1 : isWhole ? settled : Number(ofPart.at(-1)?.id ?? 0);
      lowest.set(part, Math.max(lowest.get(part) ?? 0, Math.min(end, settled)));
    }
    for (const [id, part] of passed) if (Number(id) <= (lowest.get(part) ?? 0)) passed.delete(id);
  };

  return {
    /** Whether it is worth looking at the writers: changes arrived, or are awaited. */
    isMoving: () => isStirred || taken !== undefined || awaited !== undefined,
    /** Call it repeatedly. */
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
    /** Call it before each read; evaluates the previous one by what was settled and passed since. */
    begin(parts: number[], limit: number): { after: number[]; except: string[] } {
      if (reading) lookBack(reading);
      done.clear();
      reading = { parts, limit, settledTo, rows: [] };
      return { after: parts.map((part) => lowest.get(part) ?? 0), except: [...passed.keys()] };
    },
    end(rows: ReadRow[]): void {
      if (rows.length > 0) isStirred = true;
      if (reading) reading.rows = rows;
    },
    settle(ids: string[]): void {
      for (const id of ids) done.add(id);
    },
    pass(rows: ReadRow[]): void {
      for (const { id, part } of rows) passed.set(id, part);
    },
    /** Older changes may have appeared: read everything once more. */
    restart(): void {
      lowest.clear();
      passed.clear();
      reading = undefined;
    },
  };
}

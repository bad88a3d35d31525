/** What is known of the writers of the change log at one moment. */
export interface WritersSeen {
  /** The last id that somebody took. */
  last: number;
  /** Transactions under way that may write into the log. */
  writers: string[];
}

interface ReadRow {
  id: string;
  part: number;
}

/** A read that has not been looked back on. */
interface Reading {
  parts: number[];
  rows: ReadRow[];
  limit: number;
  settledTo: number;
}

/**
 * Up to which id a part of the log need not be looked at any more. Without it each read walks over what is published
 * already: its entries stay in the index for as long as any old snapshot may want them.
 *
 * Ids are taken before they are committed, so a low one may show up behind a high one. An id counts as settled when all
 * transactions have ended that were under way at some moment after it was taken: then it is there, or never will be.
 */
export function createLowWater() {
  const lowest = new Map<number, number>();
  /** Read, not published, and somebody else's to remember; above the low water they would be read again and again. */
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
      const isWhole = ofPart.length < limit;
      const end = open ? Number(open.id) - 1 : isWhole ? settled : Number(ofPart.at(-1)?.id ?? 0);
      lowest.set(part, Math.max(lowest.get(part) ?? 0, Math.min(end, settled)));
    }
    for (const [id, part] of passed) if (Number(id) <= (lowest.get(part) ?? 0)) passed.delete(id);
  };

  return {
    /** Whether it is worth looking at the writers: something came, or is awaited. */
    isMoving: () => isStirred || taken !== undefined || awaited !== undefined,
    /** To be told again and again. */
    see({ last, writers }: WritersSeen): void {
      isStirred = false;
      const running = new Set(writers);
      if (awaited && [...awaited.writers].every((writer) => !running.has(writer))) {
        settledTo = awaited.last;
        awaited = undefined;
      }
      // Who is under way now may have taken that id: it was the last one at an earlier moment.
      if (!awaited && taken !== undefined) awaited = { last: taken, writers: running };
      taken = last > (awaited?.last ?? settledTo) ? last : undefined;
    },
    /** Before each read: what the last one gave is dealt with, as far as `settle` and `pass` say. */
    begin(parts: number[], limit: number): { after: number[]; except: string[] } {
      if (reading) lookBack(reading);
      done.clear();
      reading = { parts, limit, settledTo, rows: [] };
      return { after: parts.map((part) => lowest.get(part) ?? 0), except: [...passed.keys()] };
    },
    /** What `begin` was for has come. */
    end(rows: ReadRow[]): void {
      if (rows.length > 0) isStirred = true;
      if (reading) reading.rows = rows;
    },
    /** Published, or put aside. */
    settle(ids: string[]): void {
      for (const id of ids) done.add(id);
    },
    pass(rows: ReadRow[]): void {
      for (const { id, part } of rows) passed.set(id, part);
    },
    /** Something older may have come: everything is looked at once more. */
    restart(): void {
      lowest.clear();
      passed.clear();
      reading = undefined;
    },
  };
}

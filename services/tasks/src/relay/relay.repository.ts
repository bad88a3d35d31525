import { openLockSession, readBacklog, type Backlog, type Database } from '@taskmesh/store';
import { PARTITIONS } from '../feed/change.ts';
import { MOVE_TO_DEAD_LETTERS } from './dead-letter.statements.ts';
import type { Owed } from './held-owners.ts';
import { createLowWater } from './low-water.ts';
import type { ReadChange } from './publisher.ts';
import * as statements from './relay.statements.ts';

/** With more marks, a separate statement costs less than excluding them from the read. */
const FEW_MARKS = 50;
const LOOK_EVERY_MS = 250;
const ALL_PARTS = Array.from({ length: PARTITIONS }, (_, part) => part);

/** The parts of the change log that one session owns: it holds their locks, reads them and marks them. */
export interface Lease {
  readonly lost: AbortSignal;
  holds(part: number): boolean;
  heldParts(): number[];
  /** Takes every part that is free. */
  claim(): Promise<void>;
  /** Whether the parts are certainly still ours. Check it right before each publish. */
  isSafe(): boolean;
  epoch(): Promise<number>;
  /** Unpublished changes, in order for each owner. Read again unless marked, dead-lettered or passed. */
  read(limitPerPart: number): Promise<ReadChange[]>;
  readOwed(owed: Owed[]): Promise<ReadChange[]>;
  /** Excludes unpublished changes from further reads, except by `readOwed`. */
  pass(changes: ReadChange[]): void;
  /** Makes the next read start from the beginning: older changes than those read may have appeared. */
  readAnew(): void;
  /** Marks with the next read or at the end, to save a round trip. After a crash these would be published again. */
  markLater(ids: string[]): void;
  deadLetter(id: string, reason: string): Promise<void>;
  wakeOthers(): Promise<void>;
  end(): Promise<void>;
}

type ReadRow = ReadChange & Record<string, unknown>;

export interface LeaseOptions {
  /** Called for each notice of other instances. */
  onNews: () => void;
  /** Must advance while the process is frozen. */
  monotonicMs: () => number;
}

/** Connects and listens. */
export async function openLease(
  database: Pick<Database, 'openSession'>,
  { onNews, monotonicMs }: LeaseOptions,
): Promise<Lease> {
  const session = await openLockSession(database, { monotonicMs });
  const { run } = session;
  const held = new Set<number>();
  const lowWater = createLowWater();
  let toMark: string[] = [];
  let lookAt = 0;

  const mark = async (ids: string[]): Promise<void> => {
    if (ids.length > 0) await run(statements.MARK, [ids]);
  };

  const takeMarks = (): string[] => {
    const ids = toMark;
    toMark = [];
    return ids;
  };

  const look = async (): Promise<void> => {
    const now = monotonicMs();
    if (now < lookAt || !lowWater.isMoving()) return;
    lookAt = now + LOOK_EVERY_MS;
    const [seen] = await run<{ last: string; writers: string[] }>(statements.WRITERS);
    if (seen) lowWater.see({ last: Number(seen.last), writers: seen.writers });
  };

  try {
    await session.listen(statements.CHANNEL, onNews);
    await session.listen(statements.REPLAYS_CHANNEL, () => {
      lowWater.restart();
      onNews();
    });
  } catch (error) {
    await session.close();
    throw error;
  }

  return {
    lost: session.lost,
    holds: (part) => held.has(part),
    heldParts: () => [...held],
    async claim() {
      const wanted = ALL_PARTS.filter((part) => !held.has(part));
      if (wanted.length === 0) return;
      for (const part of await session.claim(statements.LOCK_CLASS, wanted)) held.add(part);
    },
    async epoch() {
      const [state] = await run<{ epoch: number }>(statements.EPOCH);
      if (!state) throw new Error('The store has no feed state.');
      return state.epoch;
    },
    isSafe: session.isSafe,
    async read(limit) {
      await look();
      const ids = takeMarks();
      const parts = [...held];
      const { after, except } = lowWater.begin(parts, limit);
      const values = [parts, after, limit, except];
      const isFew = ids.length > 0 && ids.length <= FEW_MARKS;
      if (!isFew) await mark(ids);
      const rows = isFew
        ? await run<ReadRow>(statements.MARK_AND_READ, [...values, ids])
        : await run<ReadRow>(statements.READ, values);
      lowWater.end(rows);
      return rows;
    },
    readOwed: (owed) =>
      run<ReadRow>(statements.READ_OWED, [
        owed.map(({ ownerId }) => ownerId),
        owed.map(({ sequence }) => sequence),
        owed.map(({ most }) => most),
      ]),
    pass: lowWater.pass,
    readAnew: lowWater.restart,
    markLater(ids) {
      lowWater.settle(ids);
      toMark.push(...ids);
    },
    async deadLetter(id, reason) {
      lowWater.settle([id]);
      await run(MOVE_TO_DEAD_LETTERS, [id, reason]);
    },
    async wakeOthers() {
      await run(statements.WAKE_OTHERS);
    },
    async end() {
      // If this fails, the next owner of the parts publishes them again.
      await mark(takeMarks()).catch(() => undefined);
      await session.close();
    },
  };
}

export type RelayRepository = ReturnType<typeof createRelayRepository>;

export function createRelayRepository(database: Pick<Database, 'openSession' | 'run'>) {
  return {
    openLease: (options: LeaseOptions): Promise<Lease> => openLease(database, options),

    /** How far the event log is behind the store. Rejects when the database is unavailable or too slow. */
    backlog: (): Promise<Backlog> => readBacklog(database, statements.BACKLOG),

    async hasBacklog(): Promise<boolean> {
      const [row] = await database.run<{ pending: boolean }>('read', statements.HAS_BACKLOG, []);
      return row?.pending !== false;
    },
  };
}

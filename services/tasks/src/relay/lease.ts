import type { Database, Session, Statement } from '@taskmesh/database';
import { PARTITIONS } from '../feed/partition.ts';
import { MOVE_TO_DEAD_LETTERS } from './dead-letters.statements.ts';
import type { Owed } from './held-owners.ts';
import { createLowWater } from './low-water.ts';
import type { ReadChange } from './publisher.ts';
import * as statements from './relay.statements.ts';

/** No answer for so long, and somebody else may hold our parts: nothing more is published. */
export const FENCE_MS = 3_000;
const PING_EVERY_MS = 1_000;
/** The server ends a session that is silent for so long (a frozen process), which gives its parts to others. After FENCE_MS. */
const SILENCE_S = 8;
/** With more, reading round them in the same statement costs more than a statement of their own. */
const FEW_MARKS = 50;
/** How often the low water may rise. */
const LOOK_EVERY_MS = 250;
const ALL_PARTS = Array.from({ length: PARTITIONS }, (_, part) => part);

/** Parts of the change log that are ours for as long as one session lives: it holds their locks, reads and marks. */
export interface Lease {
  readonly lost: AbortSignal;
  holds(part: number): boolean;
  heldParts(): number[];
  /** Takes every part that nobody holds. */
  claim(): Promise<void>;
  /** Whether the parts are surely still ours. Checked right before each publish. */
  isSafe(): boolean;
  /** Of the store that this session is connected to. */
  epoch(): Promise<number>;
  /** Changes that nobody published yet, in order for each owner. What is not marked, deadLettered or passed comes again. */
  read(limitPerPart: number): Promise<ReadChange[]>;
  /** Of these owners, from their sequences on. */
  readOwed(owed: Owed[]): Promise<ReadChange[]>;
  /** Not to be read again, though they are not published: by `readOwed` only. */
  pass(changes: ReadChange[]): void;
  /** The next read looks at everything: something may be there that is older than what was read. */
  readAnew(): void;
  /** Marks with the next read, or at the end: a round trip less. Until then a crash would publish these once more. */
  markLater(ids: string[]): void;
  deadLetter(id: string, reason: string): Promise<void>;
  /** Tells the relays of other instances that there is something new. */
  wakeOthers(): Promise<void>;
  /** Gives everything back. */
  end(): Promise<void>;
}

type ReadRow = ReadChange & Record<string, unknown>;

/** Connects, and hears when other instances have something for us. `monotonicMs` counts on while a process is frozen. */
export async function openLease(
  database: Pick<Database, 'openSession'>,
  { onNews, monotonicMs }: { onNews: () => void; monotonicMs: () => number },
): Promise<Lease> {
  const session = await database.openSession({ settings: { idle_session_timeout: `${SILENCE_S}s` } });
  const held = new Set<number>();
  const lowWater = createLowWater();
  let toMark: string[] = [];
  let lookAt = 0;
  let answeredAt = monotonicMs();

  /** An answer proves that the locks were ours when the question was sent. */
  const run = async <Row extends Record<string, unknown>>(statement: Statement, values: unknown[] = []) => {
    const askedAt = monotonicMs();
    const rows = await session.run<Row>(statement, values);
    answeredAt = Math.max(answeredAt, askedAt);
    return rows;
  };

  const mark = async (ids: string[]): Promise<void> => {
    if (ids.length > 0) await run(statements.MARK, [ids]);
  };

  const takeMarks = (): string[] => {
    const ids = toMark;
    toMark = [];
    return ids;
  };

  /** Lets the low water rise as far as it may by now. */
  const look = async (): Promise<void> => {
    const now = monotonicMs();
    if (now < lookAt || !lowWater.isMoving()) return;
    lookAt = now + LOOK_EVERY_MS;
    const [seen] = await run<{ last: string; writers: string[] }>(statements.WRITERS);
    if (seen) lowWater.see({ last: Number(seen.last), writers: seen.writers });
  };

  await session.listen(statements.CHANNEL, onNews);
  await session.listen(statements.REPLAYS_CHANNEL, () => {
    lowWater.restart();
    onNews();
  });
  const pinging = keepAlive(session, () => run(statements.PING));

  return {
    lost: session.lost,
    holds: (part) => held.has(part),
    heldParts: () => [...held],
    async claim() {
      const wanted = ALL_PARTS.filter((part) => !held.has(part));
      if (wanted.length === 0) return;
      for (const { part } of await run<{ part: number }>(statements.CLAIM, [statements.LOCK_CLASS, wanted]))
        held.add(part);
    },
    async epoch() {
      const [state] = await run<{ epoch: number }>(statements.EPOCH);
      if (!state) throw new Error('The store has no feed state.');
      return state.epoch;
    },
    isSafe: () => !session.lost.aborted && monotonicMs() - answeredAt < FENCE_MS,
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
      clearInterval(pinging);
      // Published once more by whoever holds the parts next, when this fails.
      await mark(takeMarks()).catch(() => undefined);
      await session.close();
    },
  };
}

function keepAlive(session: Session, ping: () => Promise<unknown>): NodeJS.Timeout {
  let waiting = false;
  return setInterval(() => {
    if (waiting || session.lost.aborted) return;
    waiting = true;
    // A ping that fails has already made the session count as lost.
    ping()
      .catch(() => undefined)
      .finally(() => (waiting = false));
  }, PING_EVERY_MS);
}

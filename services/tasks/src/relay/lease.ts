import type { Database, Session, Statement } from '@taskmesh/database';
import { PARTITIONS } from '../feed/partition.ts';
import type { ReadChange } from './publisher.ts';
import { BURY } from './dead-letters.statements.ts';
import { CHANNEL, CLAIM, EPOCH, LOCK_CLASS, MARK, MARK_AND_READ, PING, READ, WAKE_OTHERS } from './relay.statements.ts';

/** No answer for so long, and somebody else may hold our parts: nothing more is published. */
export const FENCE_MS = 3_000;
const PING_EVERY_MS = 1_000;
/** The server ends a session that is silent for so long (a frozen process), which gives its parts to others. After FENCE_MS. */
const SILENCE_S = 8;
/** With more, reading round them in the same statement costs more than a statement of their own. */
const FEW_MARKS = 50;
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
  /** Changes that nobody published yet, in order for each owner. */
  read(limitPerPart: number): Promise<ReadChange[]>;
  mark(ids: string[]): Promise<void>;
  /** Marks with the next read, or at the end: a round trip less. Until then a crash would publish these once more. */
  markLater(ids: string[]): void;
  bury(id: string, reason: string): Promise<void>;
  /** Tells the relays of other instances that there is something new. */
  wakeOthers(): Promise<void>;
  /** Gives everything back. */
  end(): Promise<void>;
}

/** Connects, and hears when other instances have something for us. `monotonicMs` counts on while a process is frozen. */
export async function openLease(
  database: Pick<Database, 'openSession'>,
  { onNews, monotonicMs }: { onNews: () => void; monotonicMs: () => number },
): Promise<Lease> {
  const session = await database.openSession({ settings: { idle_session_timeout: `${SILENCE_S}s` } });
  const held = new Set<number>();
  let toMark: string[] = [];
  let answeredAt = monotonicMs();

  /** An answer proves that the locks were ours when the question was sent. */
  const run = async <Row extends Record<string, unknown>>(statement: Statement, values: unknown[] = []) => {
    const askedAt = monotonicMs();
    const rows = await session.run<Row>(statement, values);
    answeredAt = Math.max(answeredAt, askedAt);
    return rows;
  };

  const mark = async (ids: string[]): Promise<void> => {
    if (ids.length > 0) await run(MARK, [ids]);
  };

  const takeMarks = (): string[] => {
    const ids = toMark;
    toMark = [];
    return ids;
  };

  await session.listen(CHANNEL, onNews);
  const pinging = keepAlive(session, () => run(PING));

  return {
    lost: session.lost,
    holds: (part) => held.has(part),
    heldParts: () => [...held],
    async claim() {
      const wanted = ALL_PARTS.filter((part) => !held.has(part));
      if (wanted.length === 0) return;
      for (const { part } of await run<{ part: number }>(CLAIM, [LOCK_CLASS, wanted])) held.add(part);
    },
    async epoch() {
      const [state] = await run<{ epoch: number }>(EPOCH);
      if (!state) throw new Error('The store has no feed state.');
      return state.epoch;
    },
    isSafe: () => !session.lost.aborted && monotonicMs() - answeredAt < FENCE_MS,
    async read(limitPerPart) {
      const ids = takeMarks();
      const values = [[...held], limitPerPart];
      const isFew = ids.length > 0 && ids.length <= FEW_MARKS;
      if (isFew) return run<ReadChange & Record<string, unknown>>(MARK_AND_READ, [...values, ids]);
      await mark(ids);
      return run<ReadChange & Record<string, unknown>>(READ, values);
    },
    mark,
    markLater(ids) {
      toMark.push(...ids);
    },
    async bury(id, reason) {
      await run(BURY, [id, reason]);
    },
    async wakeOthers() {
      await run(WAKE_OTHERS);
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

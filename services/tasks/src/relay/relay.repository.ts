import type { BlockedKey } from '@taskmesh/event-log';
import { openLockSession, readBacklog, type Backlog, type Database } from '@taskmesh/store';
import { PARTITIONS, type ChangeRow } from '../feed/change.ts';
import { MOVE_TO_DEAD_LETTERS } from './dead-letter.statements.ts';
import { createLowWater } from './low-water.ts';
import * as statements from './relay.statements.ts';

export { MAX_BLOCKED_CHANGES } from './relay.statements.ts';

const UPDATE_EVERY_MS = 250;
const ALL_PARTS = Array.from({ length: PARTITIONS }, (_, part) => part);

/** The parts of the change log that one session owns: it holds their locks, reads their changes and marks them. */
export type Lease = Awaited<ReturnType<typeof openLease>>;

/** `is_cut`: more changes may follow than were read. */
export type ReadChange = ChangeRow & { part: number; epoch: number; is_cut?: boolean };

type ReadRow = ReadChange & Record<string, unknown>;

export interface LeaseOptions {
  /** Called for each notification from other instances. */
  onNotification: () => void;
  /** Called when old changes are to be published again. */
  onReplay: () => void;
  /** Must advance while the process is frozen. */
  monotonicMs: () => number;
}

/** Opens a session that listens for notifications. */
export async function openLease(
  database: Pick<Database, 'openSession'>,
  { onNotification, onReplay, monotonicMs }: LeaseOptions,
) {
  const session = await openLockSession(database, monotonicMs);
  const { run } = session;
  const leased = new Set<number>();
  const lowWater = createLowWater();
  let updateAt = 0;

  const updateLowWater = async (): Promise<void> => {
    const [seen] = await run<{ last: string; writers: string[] }>(statements.WRITERS);
    if (seen) lowWater.update({ last: Number(seen.last), writers: seen.writers });
  };

  try {
    await session.listen(statements.CHANNEL, onNotification);
    await session.listen(statements.REPLAYS_CHANNEL, () => {
      lowWater.restart();
      onReplay();
    });
  } catch (error) {
    await session.close();
    throw error;
  }

  return {
    lost: session.lost,
    holds: (part: number) => leased.has(part),
    leasedParts: () => [...leased],
    /** Claims every free part. */
    async claim(): Promise<void> {
      const wanted = ALL_PARTS.filter((part) => !leased.has(part));
      if (wanted.length === 0) return;
      for (const part of await session.claim(statements.LOCK_CLASS, wanted)) leased.add(part);
    },
    /** Whether this session certainly still holds its parts. Check this right before each publish. */
    isSafe: session.isSafe,
    /** Reads unpublished changes of all owners except these, in order for each owner. */
    async read(limitPerPart: number, except: string[]): Promise<ReadChange[]> {
      if (leased.size === 0) return [];
      const beganAt = monotonicMs();
      if (beganAt >= updateAt && lowWater.isMoving()) {
        updateAt = beganAt + UPDATE_EVERY_MS;
        await updateLowWater();
      }
      const parts = [...leased];
      const lows = lowWater.begin(parts);
      const rows = await run<ReadRow>(statements.READ, [parts, lows, limitPerPart, except]);
      lowWater.end(parts, rows);
      // After a long read, only another response makes it safe to publish. Often fewer changes would not make it shorter.
      const isLong = monotonicMs() - beganAt > UPDATE_EVERY_MS;
      if (isLong && (rows.length > 0 || lows.includes(0))) await updateLowWater();
      return rows;
    },
    /** Reads the first `MAX_BLOCKED_CHANGES` changes of each owner. */
    readBlocked: (owners: BlockedKey[]): Promise<ReadChange[]> =>
      run<ReadRow>(statements.READ_BLOCKED, [owners.map(({ key }) => key), owners.map(({ sequence }) => sequence)]),
    /** Makes the next read include this change and later ones, if its owner is no longer blocked. */
    readFrom: lowWater.lower,
    /** Makes the next read start from the beginning, because older changes may have appeared. */
    restart: lowWater.restart,
    /** Marks changes as published. After a crash before that, they are published again. */
    async mark(ids: string[]): Promise<void> {
      if (ids.length > 0) await run(statements.MARK, [ids]);
    },
    async deadLetter(id: string, reason: string): Promise<void> {
      await run(MOVE_TO_DEAD_LETTERS, [id, reason]);
    },
    async wakeOthers(): Promise<void> {
      await run(statements.WAKE_OTHERS);
    },
    end: session.close,
  };
}

export type RelayRepository = ReturnType<typeof createRelayRepository>;

export function createRelayRepository(database: Pick<Database, 'openSession' | 'run'>) {
  return {
    openLease: (options: LeaseOptions): Promise<Lease> => openLease(database, options),

    /** How far the event log lags behind the store. Rejects when the database is unavailable or too slow. */
    backlog: (): Promise<Backlog> => readBacklog(database, statements.BACKLOG),
  };
}

import type { Database } from '@taskmesh/store';
import type { DeadLetter } from '@taskmesh/internal-api';
import { countOf } from '../rows.ts';
import { COUNT, DISCARD, LIST, NOTE_UNREADABLE, REPLAY } from './dead-letter.statements.ts';

/** A record that a gateway could not read. */
export interface StoredUnreadable {
  fingerprint: string;
  /** Owner and sequence identify the change, if the record still reveals them. */
  owner: string | null;
  sequence: number | null;
  reason: string;
  record: string;
}

export type DeadLetterRepository = ReturnType<typeof createDeadLetterRepository>;

export function createDeadLetterRepository(database: Pick<Database, 'run'>) {
  return {
    /** Dead letters with ids above `after`, ordered by id. */
    list: (after: string, limit: number): Promise<DeadLetter[]> =>
      database.run<DeadLetter>('read', LIST, [after, limit]),

    /** Null means all. Returns how many will be published again. */
    replay: (ids: string[] | null): Promise<number> => countOf(database, REPLAY, [ids]),

    /** Null means all. Returns how many were deleted. */
    discard: (ids: string[] | null): Promise<number> => countOf(database, DISCARD, [ids]),

    /** Stores each record once, and at most `max` in total. */
    async noteUnreadable(letter: StoredUnreadable, max: number): Promise<void> {
      const { fingerprint, owner, sequence, reason, record } = letter;
      await database.run('write', NOTE_UNREADABLE, [fingerprint, owner, sequence, reason, record, max]);
    },

    /** The number of dead letters by source. */
    async count(): Promise<{ relay: number; gateway: number }> {
      const rows = await database.run<{ source: 'relay' | 'gateway'; count: number }>('read', COUNT, []);
      return { relay: 0, gateway: 0, ...Object.fromEntries(rows.map(({ source, count }) => [source, count])) };
    },
  };
}

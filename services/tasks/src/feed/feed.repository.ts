import type { Database } from '@taskmesh/store';
import { countOf, present } from '../rows.ts';
import type { ChangeRow } from './change.ts';
import { CHANGES_AFTER, CLOCK, FORGET_CHANGES, FORGET_SURPLUS, HEADS, NEW_EPOCH, STATE } from './feed.statements.ts';

const NO_STATE = 'The store has no feed state.';

export type FeedRepository = ReturnType<typeof createFeedRepository>;

type ChangesAfterRow = { epoch: number; head: string } & (ChangeRow | { id: null }) & Record<string, unknown>;

export interface ForgottenChanges extends Record<string, unknown> {
  last: string;
  examined: number;
  /** False if a change in the batch is older than the retention, so that more old ones may follow. Null for an empty batch. */
  areRecent: boolean | null;
  /** Owners with a change that is recent or unpublished. */
  kept: string[];
  count: number;
}

export function createFeedRepository(database: Pick<Database, 'run'>) {
  return {
    /** The epoch and the key of cursors. */
    async state() {
      const [row] = await database.run<{ epoch: number; cursorKey: Uint8Array }>('read', STATE, []);
      return present(row, NO_STATE);
    },

    /** Reads the epoch in the same statement, like `changesAfter`. */
    async heads(ids: string[]) {
      const rows = await database.run<{ epoch: number; owner_id: string | null; head: string }>('read', HEADS, [ids]);
      return { epoch: rows[0]?.epoch ?? 0, heads: new Map(rows.map((row) => [row.owner_id, Number(row.head)])) };
    },

    async changesAfter(owner: string, sequence: number, limit: number) {
      const rows = await database.run<ChangesAfterRow>('read', CHANGES_AFTER, [owner, sequence, limit], owner);
      const { epoch = 0, head = '0' } = rows[0] ?? {};
      return { epoch, head: Number(head), changes: rows.filter((row) => row.id !== null) };
    },

    /** The database's current time, and when the newest remaining change was published. */
    async clock(): Promise<{ nowMs: number; newestMs: number | null }> {
      const [row] = await database.run<{ nowMs: number; newestMs: number | null }>('read', CLOCK, []);
      return row ?? { nowMs: 0, newestMs: null };
    },

    /** Begins and returns the next epoch, which is at least `lowest`, with a new key for cursors. */
    async beginEpoch(lowest: number): Promise<number> {
      const [row] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [lowest]);
      return present(row, NO_STATE).epoch;
    },

    /** Examines a batch of changes with ids above `after` and deletes the expired ones, except those of the owners in `kept`. */
    async forgetChanges(
      retentionMs: number,
      after: string,
      limit: number,
      kept: string[],
    ): Promise<ForgottenChanges | undefined> {
      const values = [retentionMs, after, limit, kept];
      const [row] = await database.run<ForgottenChanges>('write', FORGET_CHANGES, values);
      return row;
    },

    /** Deletes a batch of published changes beyond each owner's newest `kept`, and returns their number. */
    forgetSurplus: (kept: number, limit: number): Promise<number> => countOf(database, FORGET_SURPLUS, [kept, limit]),
  };
}

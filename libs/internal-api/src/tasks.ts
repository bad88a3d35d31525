import type { TaskChanged } from '@taskmesh/contracts';
import type { ArchivedStore, ImportResult, StoreComparison } from './stores.ts';
import { IMPORT_MS, SHORT_CALL_MS, type InternalApi } from './calls.ts';

export interface FeedPosition {
  epoch: number;
  /** The last change at this position; 0 is before the first one. */
  sequence: number;
}

export interface Heads {
  epoch: number;
  heads: Record<string, number>;
  /** The key that signs this epoch's cursors, in base64. Absent just after a restore, and in the previous release of tasks. */
  cursorKey?: string | undefined;
  /** The same positions as client cursors, if requested; the previous release of tasks omits them. */
  cursors?: Record<string, string>;
}

export interface UnreadableRecord {
  key: string;
  value: string;
  /** One sentence for an operator. */
  reason: string;
}

export interface TasksInternal {
  /** Returns the last committed sequence of each owner, 0 for owners without changes; with `asCursors`, also as cursors. */
  heads(owners: string[], asCursors?: boolean): Promise<Heads>;
  /**
   * Lists the committed changes of one owner after `sequence`, in order: at most `limit` (1 to 1,000), and fewer if they are large.
   * If some are no longer kept, `expired` is true and `changes` is empty.
   */
  changesAfter(
    owner: string,
    sequence: number,
    limit: number,
  ): Promise<{ epoch: number; expired: boolean; changes: TaskChanged[] }>;
  /** Reads a client's cursor; null if it is malformed, another owner's, or of another epoch. */
  openCursor(owner: string, cursor: string): Promise<FeedPosition | null>;
  /** Stores an unreadable record as a dead letter for operators; repeated reports of a record are stored once. */
  reportUnreadable(record: UnreadableRecord): Promise<void>;
}

/** Functions of tasks for backup only: importing its store from a restored dump. */
export interface TasksRestore {
  /**
   * Turns a loaded database into a store that can replace the live one. `database` is a name on the live store's
   * server. It contains only bare tables in the schema `restored`, and has the same owner as the live database.
   * Migrates its schema `public`, imports the rows of `restored.tasks` if they pass the rules, and drops `restored`. The new
   * epoch is 1 + the greater of the live epoch and the one in `restored.feed_state`; the change log is empty, sequences
   * start from 0, and the cursor secret is new. With `archived`, rows are migrated from that version. Keeps no
   * connection to the database. May be repeated only after `complete: false`, and never with `archived`.
   */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** Called after `importDatabase`. Returns what would change if `database` replaced the live store. Read-only. */
  compare(database: string): Promise<StoreComparison>;
  /**
   * Prepares a database that was the live store before a restore to be the live store again: migrates it and starts the epoch
   * 1 + the greater of the live one and its own, with an empty change log, sequences from 0 and a new cursor secret.
   * Keeps no connection to it. May be repeated.
   */
  resume(database: string): Promise<void>;
  /**
   * Starts an epoch above all earlier ones in the live store, with a new cursor secret, after the database was reset to
   * an earlier state by other means. Returns the epoch. Must not overlap a restore or an undo. CONFLICT when the clock
   * is clearly behind, unless `atLeast` gives the lowest acceptable epoch.
   */
  newEpoch(atLeast?: number | null): Promise<number>;
}

export const tasksInternal: InternalApi<TasksInternal> = {
  service: 'tasks',
  caller: { role: 'service', name: 'gateway' },
  timeoutMs: SHORT_CALL_MS,
  names: ['heads', 'changesAfter', 'openCursor', 'reportUnreadable'],
};

export const tasksRestore: InternalApi<TasksRestore> = {
  service: 'tasks',
  caller: { role: 'service', name: 'backup' },
  timeoutMs: IMPORT_MS,
  names: ['importDatabase', 'compare', 'resume', 'newEpoch'],
};

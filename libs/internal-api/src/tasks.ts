import type { TaskChanged } from '@taskmesh/events';
import type { ArchivedStore, ImportResult, StoreComparison } from './store-import.ts';
import type { InternalApi } from './define.ts';
import { IMPORT_MS, SMALL_CALL_MS } from './timeouts.ts';

/** A place in one owner's feed. */
export interface FeedPosition {
  epoch: number;
  /** The last change at this place; 0 is before the first one. */
  sequence: number;
}

/** Where feeds stand, by owner. */
export interface Heads {
  epoch: number;
  heads: Record<string, number>;
  /** The same places as clients take them, if asked for; a tasks service of the release before does not tell them. */
  cursors?: Record<string, string>;
}

/** A record of the event log that a reader cannot make sense of. */
export interface UnreadableRecord {
  key: string;
  value: string;
  /** One sentence for an operator. */
  reason: string;
}

/** What tasks offers to other services. */
export interface TasksInternal {
  /** Where each owner's feed stands now: the last committed sequence, 0 for owners without any change; with `asCursors` also as cursors. */
  heads(owners: string[], asCursors?: boolean): Promise<Heads>;
  /** Committed changes of one owner behind `sequence`, in order, at most `limit` (1 to 1,000). `expired` when some of them are no longer kept: then `changes` is empty. */
  changesAfter(
    owner: string,
    sequence: number,
    limit: number,
  ): Promise<{ epoch: number; expired: boolean; changes: TaskChanged[] }>;
  /** Reads a cursor that a client sent; null when it is nonsense, another owner's, or of another epoch. */
  openCursor(owner: string, cursor: string): Promise<FeedPosition | null>;
  /** Keeps a record that could not be read as a dead letter, for an operator to look at; the same one is kept once. */
  reportUnreadable(record: UnreadableRecord): Promise<void>;
}

/** What tasks offers to backup alone: its store, taken out of a restored dump. */
export interface TasksRestore {
  /**
   * Makes a loaded database into a store that can take the place of the living one. `database` is a name on
   * the server of the living store; it holds nothing but bare tables in the schema `restored`, and belongs to the living
   * database's owner. Migrates the schema `public` in it, imports the rows of `restored.tasks` that pass the rules,
   * with an epoch of 1 + the greater of the living one's and `restored.feed_state`'s, an empty change log, sequences from
   * 0 and a cursor secret of its own; then drops `restored`. With `archived`, rows are migrated from that version on. Keeps
   * no connection to it. May be repeated only after `complete: false`, and never with `archived`.
   */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** After `importDatabase`: what would change if `database` took the living store's place. Only reads. */
  compare(database: string): Promise<StoreComparison>;
  /**
   * Makes a database that was the living store before a restore fit to be that again: migrates it, begins an epoch of
   * 1 + the greater of the living one's and its own, with an empty change log, sequences from 0 and a new cursor secret.
   * Keeps no connection to it. May be repeated.
   */
  resume(database: string): Promise<void>;
  /**
   * Begins an epoch above all that were ever told, with a new cursor secret, in the living store: for who has put the database
   * back to an earlier state by other means. Returns it. Not while `importDatabase`, `resume` or what follows them is going on.
   * CONFLICT when the clock is evidently behind, unless `atLeast` says what it must be at the least.
   */
  newEpoch(atLeast?: number | null): Promise<number>;
}

export const tasksInternal: InternalApi<TasksInternal> = {
  service: 'tasks',
  caller: 'gateway',
  timeoutMs: SMALL_CALL_MS,
  names: ['heads', 'changesAfter', 'openCursor', 'reportUnreadable'],
};

export const tasksRestore: InternalApi<TasksRestore> = {
  service: 'tasks',
  caller: 'backup',
  timeoutMs: IMPORT_MS,
  names: ['importDatabase', 'compare', 'resume', 'newEpoch'],
};

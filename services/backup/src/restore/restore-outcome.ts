import type { Skipped } from '@taskmesh/pg-rows';
import type { StoreName } from '../databases/store.ts';
import type { Restore } from './restore.entities.ts';

/** How a restore or an undo ended, by the rules of the endpoint. */
export type RestoreOutcome =
  ({ kind: 'restored' } & Restored) | ({ kind: 'processed' } & Processed) | ({ kind: Refusal } & Refused);

export interface Restored {
  /** Something could not be removed yet, which does no harm. */
  isCleanUpPending: boolean;
  /** What was skipped of the dumps. */
  skipped: Skipped[];
  /** What the stores lack, as `store.table` or `store.table.column`. */
  dropped: string[];
  /** The only restored store, if the archive has more. */
  onlyStore?: StoreName | undefined;
  /** The archive of what was replaced. */
  safetyBackup?: string | undefined;
  /** An undo is possible until then; null when nothing is kept, absent when unknown. */
  keptUntil?: Date | null;
  /** The restore that was undone. */
  takenBack?: Restore;
}

/** The archive was fine, but the stores are unchanged; `why` is part of a sentence. */
export interface Processed {
  why: string;
  safetyBackup?: string | undefined;
}

export type Refusal =
  | 'file-missing'
  | 'outside'
  | 'not-found'
  | 'extraction-failed'
  | 'failed'
  /** A server was lost during the swap; this is settled in the background. */
  | 'unknown'
  | 'nothing-to-undo'
  /** The last restore is not the one to be undone; nothing has changed. */
  | 'other-restore'
  | 'busy';

export interface Refused {
  /** For the caller, where it says more than the kind. */
  error?: string;
  safetyBackup?: string | undefined;
}

import type { Skipped } from '@taskmesh/pg-rows';
import type { Restore } from './restore.entity.ts';
import type { StoreName } from '../databases/store.ts';

/** How a restore or an undo ended, by the rules of the endpoint. The texts are for the caller. */
export type RestoreOutcome =
  /**
   * `isCleanUpPending`: something could not be removed yet, which does no harm; `skipped`: what was skipped of the
   * dumps; `dropped`: what the stores lack, as `store.table` or `store.table.column`; `onlyStore`: the only restored
   * store, if the archive has more; `safetyBackup`: the archive of what was replaced; `keptUntil`: an undo is possible
   * until then, null when nothing is kept, absent when unknown; `takenBack`: the restore that was undone.
   */
  | {
      kind: 'restored';
      isCleanUpPending: boolean;
      skipped: Skipped[];
      dropped: string[];
      onlyStore?: StoreName | undefined;
      safetyBackup?: string | undefined;
      keptUntil?: Date | null;
      takenBack?: Restore;
    }
  /** The archive was fine, but the stores are unchanged; `why` is part of a sentence. */
  | { kind: 'processed'; why: string; safetyBackup?: string | undefined }
  | { kind: 'file-missing' }
  | { kind: 'outside' }
  | { kind: 'not-found' }
  | { kind: 'extraction-failed'; error: string }
  | { kind: 'failed'; error: string }
  /** A server was lost during the swap; this is settled in the background. */
  | { kind: 'unknown'; safetyBackup?: string | undefined }
  | { kind: 'nothing-to-undo' }
  /** The last restore is not the one to be undone; nothing has changed. */
  | { kind: 'other-restore' }
  | { kind: 'busy' };

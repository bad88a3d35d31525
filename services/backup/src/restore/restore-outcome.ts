import type { Skipped } from '../loader/dump-schema.ts';
import type { Restore } from './restore.entity.ts';
import type { StoreName } from '../stores/store.ts';

/** How a restore ended, by the rules of the endpoint, or how it was taken back. The texts are for the caller. */
export type RestoreOutcome =
  /**
   * `isCleanUpPending`: something could not be removed yet, which disturbs nobody; `skipped`: what of the dumps was passed over;
   * `dropped`: what the stores had no place for, as `store.table` or `store.table.column`; `onlyStore`: the archive has more;
   * `safetyBackup`: the archive of what was replaced; `keptUntil`: when an undo can bring that back, null when it is gone, absent when that is not known;
   * `takenBack`: what an undo took back.
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
  /** The archive was fine, the stores are as they were; `why` is a part of a sentence. */
  | { kind: 'processed'; why: string; safetyBackup?: string | undefined }
  | { kind: 'file-missing' }
  | { kind: 'outside' }
  | { kind: 'not-found' }
  | { kind: 'extraction-failed'; error: string }
  | { kind: 'failed'; error: string }
  /** A server was lost at the moment of the swap; it is settled in the background. */
  | { kind: 'unknown'; safetyBackup?: string | undefined }
  | { kind: 'nothing-to-undo' }
  /** The last restore is another one than the one that was to be taken back; nothing has changed. */
  | { kind: 'other-restore' }
  | { kind: 'busy' };

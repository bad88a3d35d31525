import type { Readable } from 'node:stream';
import type { AccountsComparison, RowsChange } from '../store-import.ts';
import type { RestoreParameters } from './restore-parameters.ts';

/** An archive as the list of them shows it. */
export interface BackupEntry {
  file: string;
  sizeBytes: number;
  /** Of the whole file, as hexadecimal digits; null when it was not made or taken in here. */
  sha256: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** `safety`: right before a restore; `unknown`: it was put there. */
  origin: 'request' | 'schedule' | 'safety' | 'upload' | 'unknown';
  stores: string[];
  /** When it was last restored into a temporary database to prove it. */
  verifiedAt: string | null;
  /** By which version of Taskmesh. */
  verifiedVersion: string | null;
  /** When that, or a look at all of it, last showed that it is not fit for a restore. */
  unfitAt: string | null;
  /** Why it is not: a part of a sentence. */
  unfitReason: string | null;
}

/** How far a long piece of work has come. */
export interface WorkProgress {
  /** `dump`, `compress`, `extract`, `load`, `check`, `swap`. */
  phase: string;
  store?: string;
  doneBytes?: number;
  totalBytes?: number;
  rows?: number;
}

export type OnWorkProgress = (progress: WorkProgress) => void;

/** How a restore ended, by the ten rules of the interface document. */
export interface RestoreEnd {
  success: boolean;
  message: string;
  error: string | null;
  /** What of the dumps was passed over, because it is no rows; absent where nothing was restored. */
  skipped?: { kind: string; count: number }[];
  /** What was left out, as `store.table` or `store.table.column`. */
  dropped: string[];
  /** The archive of what was there before, if one was made for this. */
  safetyBackup?: string | null;
  /** Until then an undo brings back what was replaced; null when nothing is kept, absent when that is not known. */
  keptUntil?: string | null | undefined;
  outcome:
    | 'RESTORED'
    | 'RESTORED_CLEAN_UP_PENDING'
    | 'PROCESSED'
    | 'FILE_MISSING'
    | 'FILE_OUTSIDE'
    | 'FILE_NOT_FOUND'
    | 'EXTRACTION_FAILED'
    | 'FAILED'
    | 'UNKNOWN'
    | 'NOTHING_TO_UNDO'
    | 'OTHER_RESTORE'
    | 'BUSY';
}

/** What a restore would change, and whether it could be done now. */
export interface RestoreForecast {
  possible: boolean;
  /** What would keep the stores from being replaced now, as `store: reason`. */
  obstacles: string[];
  stores: { store: string; rows: (RowsChange & { name: string })[] }[];
  /** Null where no accounts would be replaced. */
  accounts: AccountsComparison | null;
  skipped: { kind: string; count: number }[];
  dropped: string[];
  tookMs: number;
}

/** The last restore, whose former stores are kept. */
export interface UndoableRestore {
  file: string;
  stores: string[];
  /** Whether that took another one back. */
  isUndo: boolean;
  restoredAt: string;
  keptUntil: string;
  /** For how long what an undo replaces would be kept in its turn; 0: not at all. */
  replacedKeptMs: number;
}

/** How many archives are there, how many of them are new to the catalogue, and how many it cannot tell of. */
export interface BackupScan {
  archives: number;
  added: number;
  unread: number;
}

/** An archive on its way to a client. Destroying `content` ends it. */
export interface ArchiveDownload {
  sizeBytes: number;
  sha256: string | null;
  content: Readable;
}

/** What backup does for operators that lasts, or moves whole archives. Who calls it has checked who asks. */
export interface BackupWork {
  list(): Promise<BackupEntry[]>;
  find(file: string): Promise<BackupEntry | null>;
  /** Says whether there was such an archive. */
  remove(file: string): Promise<boolean>;
  /** @throws AppError with the reason when there is no backup in the end */
  create(onProgress?: OnWorkProgress): Promise<BackupEntry>;
  /** @throws AppError NOT_FOUND; CONFLICT with the reason when the archive is not fit for a restore */
  verify(file: string, onProgress?: OnWorkProgress): Promise<BackupEntry>;
  /** Brings into the catalogue what is there and it does not know. */
  scan(onProgress?: OnWorkProgress): Promise<BackupScan>;
  /** @throws AppError BAD_USER_INPUT */
  restore(file: string, onProgress?: OnWorkProgress, parameters?: RestoreParameters): Promise<RestoreEnd>;
  /** All of a restore but its last step. @throws AppError NOT_FOUND; CONFLICT with the reason when the archive is not fit for it */
  dryRun(file: string, onProgress?: OnWorkProgress, parameters?: RestoreParameters): Promise<RestoreForecast>;
  /** Lets clients begin anew, after the stores were put back by other means. @throws AppError CONFLICT when the clock is evidently behind */
  newEpoch(atLeast?: number): Promise<{ epoch: number }>;
  /** Null when nothing is kept. */
  undoable(): Promise<UndoableRestore | null>;
  /** Takes the last restore back; with `restoredAt` only that one, as `undoable` has shown it. @throws AppError BAD_USER_INPUT */
  undo(onProgress?: OnWorkProgress, restoredAt?: string): Promise<RestoreEnd>;
  /** Undefined when there is no such archive. */
  download(file: string): Promise<ArchiveDownload | undefined>;
  /** @throws AppError BAD_USER_INPUT, PAYLOAD_TOO_LARGE, CONFLICT when the name is taken by another archive */
  upload(file: string, content: Readable): Promise<BackupEntry>;
}

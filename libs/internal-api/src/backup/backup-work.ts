import type { Readable } from 'node:stream';
import { z } from 'zod';
import { timeSchema } from '../operators.ts';
import { accountsComparison, rowsChange } from '../stores.ts';
import type { RestoreParameters } from './parameters.ts';

export const backupEntry = z.object({
  file: z.string(),
  sizeBytes: z.int(),
  sha256: z.string().nullable().meta({ description: 'Of the whole file; null if it was placed there by hand.' }),
  createdAt: timeSchema,
  origin: z.enum(['request', 'schedule', 'safety', 'upload', 'unknown']).meta({
    description:
      'Why it was made: `safety` means right before a restore; `unknown` archives were placed there by hand.',
  }),
  stores: z.array(z.string()).meta({ description: 'The databases that it has a dump of, as far as known.' }),
  verifiedAt: timeSchema.nullable().meta({ description: 'When a test restore of it last succeeded.' }),
  verifiedVersion: z.string().nullable().meta({ description: 'The version of Taskmesh that made that test restore.' }),
  unfitAt: timeSchema.nullable().meta({
    description: 'When a test restore or an inspection last showed that it cannot be restored.',
  }),
  unfitReason: z.string().nullable().meta({ description: 'Why it cannot be restored, as part of a sentence.' }),
});
export type BackupEntry = z.output<typeof backupEntry>;

export interface WorkProgress {
  /** `dump`, `compress`, `extract`, `load`, `check`, `compare`, `swap` or `scan`. */
  phase: string;
  store?: string;
  doneBytes?: number;
  totalBytes?: number;
}

export type OnWorkProgress = (progress: WorkProgress) => void;

/** How a restore ended, according to the ten rules of the interface document. */
export interface RestoreEnd {
  success: boolean;
  message: string;
  error: string | null;
  /** Parts of the dumps that were skipped because they are not rows; absent if nothing was restored. */
  skipped?: { kind: string; count: number }[];
  /** Tables and columns that were left out, as `store.table` or `store.table.column`. */
  dropped: string[];
  /** The archive of the replaced content, if one was made for this restore. */
  safetyBackup?: string | null;
  /** An undo is possible until then; null if nothing is kept, absent if unknown. */
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

export const restoreForecast = z.object({
  possible: z.boolean().meta({ description: 'Whether nothing known prevents the databases from being replaced now.' }),
  obstacles: z.array(z.string()).meta({ description: 'What prevents it, as `store: reason`.' }),
  stores: z.array(
    z.object({
      store: z.string(),
      rows: z.array(rowsChange.extend({ name: z.string().meta({ description: 'The name of a table.' }) })),
    }),
  ),
  accounts: accountsComparison.nullable().meta({ description: 'Null if the restore would not replace accounts.' }),
  skipped: z.array(z.object({ kind: z.string(), count: z.int() })),
  dropped: z.array(z.string()),
  tookMs: z.int(),
});
export type RestoreForecast = z.output<typeof restoreForecast>;

export const backupScan = z.object({
  archives: z.int().meta({ description: 'Archives found.' }),
  added: z.int().meta({ description: 'Archives that are new to the list.' }),
  unread: z.int().meta({ description: 'Archives whose manifest could not be read here.' }),
});
export type BackupScan = z.output<typeof backupScan>;

/** A download of an archive. Destroy `content` to abort it. */
export interface ArchiveDownload {
  sizeBytes: number;
  sha256: string | null;
  content: Readable;
}

/**
 * The part of backups that GraphQL cannot carry: work that reports progress and may take hours, and whole archives.
 * Everything else is a GraphQL operation (ADR 33). Callers must check permissions.
 */
export interface BackupWork {
  /** @throws AppError with the reason when the backup could not be made */
  create(onProgress?: OnWorkProgress): Promise<BackupEntry>;
  /** @throws AppError NOT_FOUND; CONFLICT with the reason when the archive is unfit for a restore */
  verify(file: string, onProgress?: OnWorkProgress): Promise<BackupEntry>;
  /** Adds archives that are missing from the catalogue. */
  scan(onProgress?: OnWorkProgress): Promise<BackupScan>;
  /** @throws AppError BAD_USER_INPUT */
  restore(file: string, onProgress?: OnWorkProgress, parameters?: RestoreParameters): Promise<RestoreEnd>;
  /** Performs all of a restore except the swap. @throws AppError NOT_FOUND; CONFLICT with the reason for an unfit archive */
  dryRun(file: string, onProgress?: OnWorkProgress, parameters?: RestoreParameters): Promise<RestoreForecast>;
  /** Undoes the last restore; with `restoredAt`, only that one. @throws AppError BAD_USER_INPUT */
  undo(onProgress?: OnWorkProgress, restoredAt?: string): Promise<RestoreEnd>;
  download(file: string): Promise<ArchiveDownload | undefined>;
  /** @throws AppError BAD_USER_INPUT, PAYLOAD_TOO_LARGE, CONFLICT when the name is taken by another archive */
  upload(file: string, content: Readable): Promise<BackupEntry>;
}

/** Work is started with a POST to its name below this path; archives are transferred with GET and PUT at `/archive`. */
export const WORK_PATH = '/internal/backup';

/** Work that is called by name with arguments. It may take long, so the response is a stream of lines. */
export const WORK_NAMES = ['create', 'verify', 'scan', 'restore', 'dryRun', 'undo'] as const;
export type WorkName = (typeof WORK_NAMES)[number];

/** One line of a response. The last one is the result or the error; blank and repeated lines are signs of life. */
export type WorkLine =
  { progress: object } | { result: unknown } | { error: { code: string; message: string; issues?: unknown } };

/** A line is sent at least this often, even without progress. */
export const HEARTBEAT_MS = 3_000;
/** After this much silence, the other end counts as dead. */
export const SILENCE_MS = 20_000;
/** The sender of an archive waits for its own client, so it may be silent for longer. */
export const UPLOAD_SILENCE_MS = 60_000;

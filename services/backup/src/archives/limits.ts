import { errorCode } from '@taskmesh/contracts/error-details';

export type ArchiveLimits = ReturnType<typeof archiveLimits>;

export const MIB = 1024 * 1024;

/** An archive is larger than the settings allow. The message is part of a sentence for the operator. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

export const tooLarge = (bytes: number, when: 'packed' | 'unpacked'): TooLargeError =>
  new TooLargeError(`it is larger than BACKUP_MAX_ARCHIVE_MB allows a restore to be (${bytes / MIB} MiB ${when})`);

/** A process that reads an archive did not end normally. */
export const READER_LOST = 'The process that reads the archive could not be started, failed, or was killed.';

/** Each table holds locks until the load ends; a server has a limited number, shared with the live stores. */
export const MAX_TABLES = 1_000;

const MIN_TIMEOUT_MS = 120_000;
/** Slower than any usable disk. */
const BYTES_PER_MS = 4_096;

export const DEFAULT_MAX_ARCHIVE_MB = 256;
/** With more, PostgreSQL's limit for temporary files (twice the unpacked size, in kB) would exceed an integer. */
export const MAX_ARCHIVE_MB = 128 * 1024 - 1;
/** How much larger than an archive its content may be. Rows of text compress five- to tenfold. */
const EXPANSION = 8;

/** The sizes that the operator configures; the other limits are derived or fixed. */
export interface ArchiveSizes {
  maxArchiveBytes: number;
  maxExpandedBytes: number;
}

export function archiveLimits({ maxArchiveBytes, maxExpandedBytes }: ArchiveSizes) {
  return {
    compressedBytes: maxArchiveBytes,
    /** Lowered to a quarter of the usable disk space if that is less. */
    expandedBytes: maxExpandedBytes,
    entries: 10_000,
    nameLength: 1_024,
    depth: 32,
    timeoutMs: Math.max(MIN_TIMEOUT_MS, maxExpandedBytes / BYTES_PER_MS),
  };
}

export const archiveSizes = (maxArchiveMb: number): ArchiveSizes => ({
  maxArchiveBytes: maxArchiveMb * MIB,
  maxExpandedBytes: maxArchiveMb * EXPANSION * MIB,
});

export const DEFAULT_SIZES = archiveSizes(DEFAULT_MAX_ARCHIVE_MB);

/** An archive that was not extracted: broken, hostile, or over a limit. The message is for the operator. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError';
}

export function asExtractionError(error: unknown): ExtractionError {
  if (error instanceof ExtractionError) return error;
  return new ExtractionError(`The archive cannot be extracted: ${reasonOf(error)}.`, { cause: error });
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'a file in it is too large',
  EACCES: 'no permission to write',
  EROFS: 'no permission to write',
  Z_BUF_ERROR: 'it ends too early',
  Z_DATA_ERROR: 'it is not an intact gzip file',
  TAR_BAD_ARCHIVE: 'it contains no tar file, or a broken one',
  TAR_ENTRY_INVALID: 'it contains a broken tar file',
  TAR_ENTRY_ERROR: 'it contains an entry that is not allowed',
};

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return REASONS[code] ?? `it could not be read${code && ` (${code})`}`;
}

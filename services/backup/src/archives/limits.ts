export interface ArchiveLimits {
  compressedBytes: number;
  /** Lowered to a quarter of the usable disk space if that is less. */
  expandedBytes: number;
  entries: number;
  nameLength: number;
  depth: number;
  timeoutMs: number;
}

export const MIB = 1024 * 1024;

/** An archive is larger than the settings allow here. The message is part of a sentence for the operator. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

export const tooLarge = (bytes: number, when: 'packed' | 'unpacked'): TooLargeError =>
  new TooLargeError(`it is larger than BACKUP_MAX_ARCHIVE_MB allows a restore to be (${bytes / MIB} MiB ${when})`);

/** Each table takes locks until its load ends; a server has few, shared with the live stores. */
export const MAX_TABLES = 1_000;

const MIN_TIMEOUT_MS = 120_000;
/** Slower than any usable disk. */
const BYTES_PER_MS = 4_096;

export const DEFAULT_MAX_ARCHIVE_MB = 256;
/** How much larger than an archive its content may be. */
const EXPANSION = 2;

/** What the operator sets, in two sizes; the other limits are derived or fixed. */
export interface ArchiveSizes {
  maxArchiveBytes: number;
  maxExpandedBytes: number;
}

export function archiveLimits({ maxArchiveBytes, maxExpandedBytes }: ArchiveSizes): ArchiveLimits {
  return {
    compressedBytes: maxArchiveBytes,
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

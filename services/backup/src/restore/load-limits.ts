import { MIB } from '../archives/limits.ts';

export interface LoadLimits {
  timeoutMs: number;
  /** Without any progress; the time of a full scan of the database is added. */
  stallMs: number;
  databaseBytes: number;
  statementTimeoutMs: number;
  /** For sorting on the server's disk. */
  tempFileBytes: number;
}

/** For all work on a store. */
export const STALL_MS = 30_000;
const MIN_TIMEOUT_MS = 15 * 60_000;
const MIN_STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MIN_DATABASE_BYTES = 8 * 1024 * MIB;
const MIN_TEMP_FILE_BYTES = 1024 * MIB;
/** Slower than any usable server. */
const BYTES_PER_MS = 1_024;
/** The size of rows with their indexes, relative to the dump's text. */
const GROWTH = 16;

/** High enough for every dump that fits into an archive. */
export function loadLimits({ maxExpandedBytes }: { maxExpandedBytes: number }): LoadLimits {
  const slowestMs = Math.ceil(maxExpandedBytes / BYTES_PER_MS);
  return {
    stallMs: STALL_MS,
    timeoutMs: Math.max(MIN_TIMEOUT_MS, slowestMs),
    databaseBytes: Math.max(MIN_DATABASE_BYTES, maxExpandedBytes * GROWTH),
    statementTimeoutMs: Math.max(MIN_STATEMENT_TIMEOUT_MS, Math.ceil(slowestMs / 2)),
    tempFileBytes: Math.max(MIN_TEMP_FILE_BYTES, maxExpandedBytes * 2),
  };
}

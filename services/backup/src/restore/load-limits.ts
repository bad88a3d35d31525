import { MIB } from '../archives/limits.ts';

/** What making a store from one dump may cost at the most. */
export interface LoadLimits {
  timeoutMs: number;
  /** Without any progress; a scan of the whole database may take longer, by its size. */
  stallMs: number;
  /** How large the new database may grow. */
  databaseBytes: number;
  /** For any one statement, `COPY` of a whole table included. */
  statementTimeoutMs: number;
  /** For sorting on the server's disk. */
  tempFileBytes: number;
}

/** Of whatever goes on with a store. */
export const STALL_MS = 30_000;
const MIN_TIMEOUT_MS = 15 * 60_000;
const MIN_STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MIN_DATABASE_BYTES = 8 * 1024 * MIB;
const MIN_TEMP_FILE_BYTES = 1024 * MIB;
/** Slower than any server that is fit for work. */
const BYTES_PER_MS = 1_024;
/** Rows with their indexes, next to the dump's text. */
const GROWTH = 16;

/** Dumps that an archive may hold are loaded, too. */
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

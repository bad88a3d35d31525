import { LoadError } from '@taskmesh/pg-rows';
import { pause } from '@taskmesh/service';
import { MIB } from '../archives/limits.ts';
import { endSessions, maintenanceUrl, withAdmin } from '../databases/connect.ts';
import {
  abortOnStall,
  createStallDetection,
  DEFAULT_TIMEOUTS,
  TooSlowError,
  rejectOnAbort,
} from '../stall-detection.ts';

export type LoadLimits = ReturnType<typeof loadLimits>;

const MIN_TIMEOUT_MS = 15 * 60_000;
const MIN_STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MIN_DATABASE_BYTES = 8 * 1024 * MIB;
const MIN_TEMP_FILE_BYTES = 1024 * MIB;
/** Slower than any usable server. */
const BYTES_PER_MS = 1_024;
/** The maximum size of rows with their indexes, relative to the dump's text. */
const GROWTH_FACTOR = 16;

/** High enough for every dump that fits into an archive. */
export function loadLimits({ maxExpandedBytes }: { maxExpandedBytes: number }, { stallMs } = DEFAULT_TIMEOUTS) {
  const slowestMs = Math.ceil(maxExpandedBytes / BYTES_PER_MS);
  return {
    /** How long work may show no progress; the time for a full scan of the database is added. */
    stallMs,
    timeoutMs: Math.max(MIN_TIMEOUT_MS, slowestMs),
    databaseBytes: Math.max(MIN_DATABASE_BYTES, maxExpandedBytes * GROWTH_FACTOR),
    statementTimeoutMs: Math.max(MIN_STATEMENT_TIMEOUT_MS, Math.ceil(slowestMs / 2)),
    /** For sorts on the server's disk. */
    tempFileBytes: Math.max(MIN_TEMP_FILE_BYTES, maxExpandedBytes * 2),
  };
}

export interface Watched {
  adminUrl: string;
  database: string;
  limits: Pick<LoadLimits, 'timeoutMs' | 'stallMs' | 'databaseBytes'>;
}

const POLL_EVERY_MS = 1_000;

/**
 * Runs `work`, which fills a database, and aborts its signal when the database grows too large, the time is up, or
 * nothing shows progress for too long: neither the size, nor the sessions, nor `onProgress`. If `work` fails, ends the
 * sessions that still run in the database.
 */
export async function runWatched<Result>(
  { adminUrl, database, limits }: Watched,
  work: (signal: AbortSignal, onProgress: () => void) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const done = new AbortController();
  const stalls = createStallDetection(limits.stallMs);
  const onTimeout = setTimeout(() => stop.abort(new TooSlowError('The time is up.')), limits.timeoutMs);
  const onStall = abortOnStall(stop, stalls); // a timer of its own, so that a server that does not respond counts as stalled
  const onActivity = ({ bytes, sessions }: DatabaseActivity) => {
    if (bytes > limits.databaseBytes) stop.abort(new LoadError('The database grew too large.'));
    stalls.noteProgress(bytes, sessions);
  };
  void pollDatabase(adminUrl, database, done.signal, onActivity);
  try {
    return await work(stop.signal, () => stalls.noteProgress());
  } catch (error) {
    await endSessions(adminUrl, database).catch(() => undefined); // if the server is down, there are no sessions
    throw error;
  } finally {
    clearTimeout(onTimeout);
    clearInterval(onStall);
    done.abort();
  }
}

/** More patience for a step, because reading from the live database shows no progress in the watched one. */
const STEP_STALL_FACTOR = 10;

/**
 * Runs a step of the service that owns a store, in a database beside the live one. Limits on progress and time guarantee
 * that it ends.
 */
export function runOwnerStep<Result>(
  adminUrl: string,
  database: string,
  step: () => Promise<Result>,
  limits: Pick<LoadLimits, 'timeoutMs' | 'stallMs'>,
): Promise<Result> {
  const stallMs = STEP_STALL_FACTOR * limits.stallMs;
  const watched = { adminUrl, database, limits: { ...limits, stallMs, databaseBytes: Infinity } }; // a step may grow to any size
  return runWatched(watched, (signal) => rejectOnAbort(signal, step()));
}

interface DatabaseActivity {
  bytes: number;
  /** A fingerprint of the sessions' activity, which changes with any progress. */
  sessions: string;
}

/** Sessions show progress by their statements, and some statements by counters. */
const READ_ACTIVITY = `
  select pg_database_size(d.oid)::float8 as bytes, coalesce((
    select string_agg(concat_ws(' ', a.pid, a.state, a.state_change, a.query_start, i.blocks_done, i.tuples_done, n.sample_blks_scanned), ',' order by a.pid)
    from pg_stat_activity a left join pg_stat_progress_create_index i on i.pid = a.pid left join pg_stat_progress_analyze n on n.pid = a.pid
    where a.datid = d.oid and a.backend_type = 'client backend'), '') as sessions
  from pg_database d where datname = $1`;

/** Never rejects: the work itself notices when the server is unavailable. */
async function pollDatabase(
  url: string,
  database: string,
  done: AbortSignal,
  onActivity: (activity: DatabaseActivity) => void,
): Promise<void> {
  while (!done.aborted) {
    await withAdmin(maintenanceUrl(url), async (watcher) => {
      while (!done.aborted) {
        const { rows } = await watcher.query<DatabaseActivity>(READ_ACTIVITY, [database]);
        if (rows[0]) onActivity(rows[0]);
        await pause(POLL_EVERY_MS, done);
      }
    }).catch(() => undefined);
    await pause(POLL_EVERY_MS, done);
  }
}

import { type AppError, unavailable } from '@taskmesh/errors';
import { isNativeError } from 'node:util/types';

/**
 * PostgreSQL's or the driver's way to say that the server, or the database, was not there for a statement. These are told
 * before or instead of its execution, so the statement has not happened and may be sent again.
 */
const NOT_DONE = new Set([
  '57P01', // admin_shutdown: the session was ended
  '57P03', // cannot_connect_now: starting up or shutting down
  '55000', // object_not_in_prerequisite_state: the database takes no connections
  '3D000', // invalid_catalog_name: between the two renames of a swap
  '53300', // too_many_connections
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  'ECONNREFUSED',
  'ENOENT', // a socket file that is not there
]);

/** Messages of pg and pg-pool that have no code. */
const NOT_DONE_MESSAGES = [
  'Client has encountered a connection error and is not queryable',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
];

/** The connection broke while a statement was under way: it may have happened or not. */
const UNKNOWN_CODES = new Set(['57P02', '08006', '08003', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57014']);
const UNKNOWN_MESSAGES = ['Connection terminated unexpectedly', 'Connection terminated', 'Query read timeout'];

type Outcome = 'not-done' | 'unknown' | 'other';

/** Looks through the causes, because the ORM wraps the driver's errors. */
export function outcomeOf(error: unknown): Outcome {
  for (let current: unknown = error; isNativeError(current); current = current.cause ?? previousOf(current)) {
    const code = codeOf(current);
    if (NOT_DONE.has(code) || NOT_DONE_MESSAGES.includes(current.message)) return 'not-done';
    if (UNKNOWN_CODES.has(code) || UNKNOWN_MESSAGES.includes(current.message)) return 'unknown';
  }
  return 'other';
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function previousOf(error: Error): unknown {
  return 'previous' in error ? error.previous : undefined;
}

/** SERVICE_UNAVAILABLE when the database was away; undefined when the error is about something else. */
export function asUnavailable(error: unknown): AppError | undefined {
  return outcomeOf(error) === 'other' ? undefined : unavailable(undefined, error);
}

export interface RetryOptions {
  /** `read`: may be repeated whatever happened. `write`: only when it surely has not happened. */
  kind: 'read' | 'write';
  /** @default 2_000 */
  deadlineMs?: number;
}

/**
 * Runs `work` again while the database is away for a moment (a restart, a swap), with pauses from 5 ms growing to 200 ms.
 * @throws AppError SERVICE_UNAVAILABLE when it stays away, or when a write's outcome is unknown
 */
export async function whileAway<Result>(options: RetryOptions, work: () => Promise<Result>): Promise<Result> {
  const { kind, deadlineMs = 2_000 } = options;
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    try {
      return await work();
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === 'other') throw error;
      const repeatable = outcome === 'not-done' || kind === 'read';
      if (!repeatable || performance.now() + pauseMs > deadline) throw unavailable(undefined, error);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

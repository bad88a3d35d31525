import { type AppError, unavailable } from '@taskmesh/errors';

/**
 * The server or the database was unavailable or could not run the statement. These errors come before or instead of its
 * execution, so the statement has not happened and may be sent again.
 */
const NOT_DONE = new Set([
  '08001', // sqlclient_unable_to_establish_sqlconnection
  '08004', // sqlserver_rejected_establishment_of_sqlconnection
  '25006', // read_only_sql_transaction: a failover has made this server a standby
  '3D000', // invalid_catalog_name: between the two renames of a swap
  '40001',
  '40P01', // deadlock_detected
  '55000', // object_not_in_prerequisite_state: the database takes no connections
  '57P01', // admin_shutdown: the session was ended
  '57P03', // cannot_connect_now: starting up or shutting down
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
  '58030', // io_error
]);
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** insufficient_resources: disk full, out of memory, too many connections. */
const NO_RESOURCES = '53';
/** Any failure of these calls comes before the first statement. */
const CONNECTING = new Set(['getaddrinfo', 'connect']);

/** A migration changed the columns of the prepared statement. Matched by routine, as messages are translated. */
const STALE_PLAN = { code: '0A000', routine: 'RevalidateCachedQuery' };

/** Messages of pg and pg-pool errors that have no code. */
const NOT_DONE_MESSAGES = [
  'Client has encountered a connection error and is not queryable',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
];

/** The connection broke while a statement was running, so it may or may not have happened. */
const UNKNOWN_CODES = new Set([
  ...['57P02', '57014', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);
const CONNECTION_EXCEPTION = '08';
const UNKNOWN_MESSAGES = ['Connection terminated unexpectedly', 'Connection terminated', 'Query read timeout'];

type Outcome = 'not-done' | 'unknown' | 'other';

/** Follows the causes, because the ORM wraps the driver's errors. */
export function outcomeOf(error: unknown): Outcome {
  for (let current: unknown = error; Error.isError(current); current = current.cause ?? previousOf(current)) {
    if (isNotDone(current)) return 'not-done';
    if (isUnknown(current)) return 'unknown';
  }
  return 'other';
}

function isNotDone(error: Error): boolean {
  const code = codeOf(error);
  return (
    NOT_DONE.has(code) ||
    isOfClass(NO_RESOURCES, code) ||
    isConnecting(error) ||
    isStalePlan(error) ||
    NOT_DONE_MESSAGES.includes(error.message)
  );
}

/** Check `isNotDone` first: it is more precise about some of these. */
function isUnknown(error: Error): boolean {
  const code = codeOf(error);
  return UNKNOWN_CODES.has(code) || isOfClass(CONNECTION_EXCEPTION, code) || UNKNOWN_MESSAGES.includes(error.message);
}

function isOfClass(sqlClass: string, code: string): boolean {
  return SQLSTATE.test(code) && code.startsWith(sqlClass);
}

/** A host with several addresses fails with an AggregateError. */
function isConnecting(error: Error): boolean {
  if ('errors' in error) return codeOf(error) !== '';
  return 'syscall' in error && typeof error.syscall === 'string' && CONNECTING.has(error.syscall);
}

function isStalePlan(error: Error): boolean {
  return codeOf(error) === STALE_PLAN.code && 'routine' in error && error.routine === STALE_PLAN.routine;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function previousOf(error: Error): unknown {
  return 'previous' in error ? error.previous : undefined;
}

const UNIQUE_VIOLATION = '23505';

/** Whether PostgreSQL refused a duplicate row; with `constraint`, a duplicate under that constraint only. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!Error.isError(error) || codeOf(error) !== UNIQUE_VIOLATION) return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

const CHECK_VIOLATION = '23514';

/** Whether PostgreSQL refused a row because of this check. */
export function isCheckViolation(error: unknown, constraint: string): boolean {
  if (!Error.isError(error) || codeOf(error) !== CHECK_VIOLATION) return false;
  return 'constraint' in error && error.constraint === constraint;
}

/** SERVICE_UNAVAILABLE when the database was unavailable; undefined for any other error. */
export function asUnavailable(error: unknown): AppError | undefined {
  return outcomeOf(error) === 'other' ? undefined : unavailable(undefined, error);
}

export interface RetryOptions {
  /** A `read` is repeated whatever happened, a `write` only when it certainly has not happened. */
  kind: 'read' | 'write';
  /** @default 2_000 */
  deadlineMs?: number;
}

/**
 * Repeats `work` while the database is briefly unavailable, with pauses growing from 5 ms to 200 ms.
 * @throws AppError SERVICE_UNAVAILABLE when it stays unavailable, or when a write's outcome is unknown
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

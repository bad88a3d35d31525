import { type AppError, unavailable } from '@taskmesh/errors';

/**
 * PostgreSQL's or the driver's way to say that the server, or the database, was not there for a statement, or could not do
 * it. These are told before or instead of its execution, so the statement has not happened and may be sent again.
 */
const NOT_DONE = new Set([
  '08001', // sqlclient_unable_to_establish_sqlconnection
  '08004', // sqlserver_rejected_establishment_of_sqlconnection
  '25006', // read_only_sql_transaction: the server follows another one since a failover
  '3D000', // invalid_catalog_name: between the two renames of a swap
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55000', // object_not_in_prerequisite_state: the database takes no connections
  '57P01', // admin_shutdown: the session was ended
  '57P03', // cannot_connect_now: starting up or shutting down
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
  '58030', // io_error
]);
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** insufficient_resources: no room on the disk, no memory, no connection left. */
const NO_RESOURCES = '53';
/** What the resolver or the network says to these, whatever it is, comes before any statement. */
const CONNECTING = new Set(['getaddrinfo', 'connect']);

/** A prepared statement whose columns a migration has changed since: prepared anew, it is another one. By place, as messages are translated. */
const STALE_PLAN = { code: '0A000', routine: 'RevalidateCachedQuery' };

/** Messages of pg and pg-pool that have no code. */
const NOT_DONE_MESSAGES = [
  'Client has encountered a connection error and is not queryable',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
];

/** The connection broke while a statement was under way: it may have happened or not. */
const UNKNOWN_CODES = new Set([
  ...['57P02', '57014', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);
const CONNECTION_EXCEPTION = '08';
const UNKNOWN_MESSAGES = ['Connection terminated unexpectedly', 'Connection terminated', 'Query read timeout'];

type Outcome = 'not-done' | 'unknown' | 'other';

/** Looks through the causes, because the ORM wraps the driver's errors. */
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

/** To be asked after `isNotDone`, which knows some of these better. */
function isUnknown(error: Error): boolean {
  const code = codeOf(error);
  return UNKNOWN_CODES.has(code) || isOfClass(CONNECTION_EXCEPTION, code) || UNKNOWN_MESSAGES.includes(error.message);
}

function isOfClass(sqlClass: string, code: string): boolean {
  return SQLSTATE.test(code) && code.startsWith(sqlClass);
}

/** A host with several addresses fails with all their errors at once. */
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

/** Whether PostgreSQL refused a row because there is one like it already, by `constraint` if that is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!Error.isError(error) || codeOf(error) !== UNIQUE_VIOLATION) return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
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

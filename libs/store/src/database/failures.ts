import { conflict, unavailable, type AppError } from '@taskmesh/contracts';
import { backoffMs, type Backoff } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { SQL_STATE } from './sql-state.ts';

/**
 * The server or the database was unavailable or could not run the statement. These errors occur before or instead of its
 * execution, so the statement had no effect and may be sent again.
 */
const NOT_DONE = new Set<string>([
  SQL_STATE.sqlclientUnableToEstablishConnection,
  SQL_STATE.sqlserverRejectedConnection,
  SQL_STATE.readOnlyTransaction, // a failover has made this server a standby
  SQL_STATE.idleInTransactionSessionTimeout,
  SQL_STATE.transactionTimeout,
  SQL_STATE.invalidAuthorization,
  SQL_STATE.invalidPassword,
  SQL_STATE.invalidCatalogName, // between the two renames of a swap
  SQL_STATE.serializationFailure,
  SQL_STATE.deadlockDetected,
  SQL_STATE.objectNotInPrerequisiteState, // the database accepts no connections
  SQL_STATE.lockNotAvailable,
  SQL_STATE.adminShutdown, // the session was ended
  SQL_STATE.cannotConnectNow, // starting up or shutting down
  SQL_STATE.databaseDropped,
  SQL_STATE.idleSessionTimeout,
  SQL_STATE.ioError,
]);
/** The class of SQL states for a full disk, too little memory and too many connections. */
const INSUFFICIENT_RESOURCES = '53';
/** Any failure of these calls occurs before the first statement. */
const CONNECT_CALLS = new Set(['getaddrinfo', 'connect']);

/** Other failures have these codes, too. Matched by routine, because messages are translated. */
const NOT_DONE_ROUTINES = new Set([
  `${SQL_STATE.featureNotSupported} RevalidateCachedQuery`, // a migration changed the columns of the prepared statement
  `${SQL_STATE.insufficientPrivilege} CheckMyDatabase`, // this user may not connect
]);

/** Messages of pg and pg-pool errors that have no code. */
const NOT_DONE_MESSAGES = [
  'Client has encountered a connection error and is not queryable',
  'timeout exceeded when trying to connect',
  'Cannot use a pool after calling end on the pool',
  'Connection terminated due to connection timeout',
];

/** The connection broke while a statement was running, so it may or may not have taken effect. */
const UNKNOWN_CODES = new Set<string>([
  ...[SQL_STATE.crashShutdown, SQL_STATE.queryCanceled],
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);
const CONNECTION_EXCEPTION = '08';
const UNKNOWN_MESSAGES = ['Connection terminated unexpectedly', 'Connection terminated', 'Query read timeout'];

type Outcome = 'not-done' | 'unknown' | 'other';

/** Checks the causes as well, because the ORM wraps the driver's errors. */
export function outcomeOf(error: unknown): Outcome {
  for (const each of withCauses(error)) {
    if (isNotDone(each)) return 'not-done';
    if (isUnknown(each)) return 'unknown';
  }
  return 'other';
}

/** These errors end only a statement or its transaction. */
const STATEMENT_ONLY_CODES = new Set<string>([
  SQL_STATE.serializationFailure,
  SQL_STATE.deadlockDetected,
  SQL_STATE.lockNotAvailable,
  SQL_STATE.queryCanceled,
]);

/** The connection is not in the state in which we left it, for example behind a pooler that does not keep sessions. */
const UNEXPECTED_STATE_CODES = new Set<string>([
  SQL_STATE.inFailedTransaction,
  SQL_STATE.invalidStatementName,
  SQL_STATE.duplicatePreparedStatement,
]);

/** Whether the connection of the failed statement is lost, or useless for a second attempt. */
export function endsConnection(error: unknown): boolean {
  if (withCauses(error).some((each) => UNEXPECTED_STATE_CODES.has(codeOf(each)))) return true;
  return outcomeOf(error) !== 'other' && !withCauses(error).some((each) => STATEMENT_ONLY_CODES.has(codeOf(each)));
}

/** Whether the server or the database refuses writes, according to this error or a cause of it. */
function isReadOnly(error: unknown): boolean {
  return withCauses(error).some((each) => codeOf(each) === SQL_STATE.readOnlyTransaction);
}

function withCauses(error: unknown): Error[] {
  return Error.isError(error) ? [error, ...withCauses(error.cause ?? previousOf(error))] : [];
}

function isNotDone(error: Error): boolean {
  const code = codeOf(error);
  return (
    NOT_DONE.has(code) ||
    code.startsWith(INSUFFICIENT_RESOURCES) ||
    isConnectFailure(error) ||
    ('routine' in error && NOT_DONE_ROUTINES.has(`${code} ${String(error.routine)}`)) ||
    NOT_DONE_MESSAGES.includes(error.message)
  );
}

/** Check `isNotDone` first, which is more precise for some of these errors. */
function isUnknown(error: Error): boolean {
  const code = codeOf(error);
  return UNKNOWN_CODES.has(code) || code.startsWith(CONNECTION_EXCEPTION) || UNKNOWN_MESSAGES.includes(error.message);
}

/** Connecting to a host with several addresses fails with an AggregateError. */
function isConnectFailure(error: Error): boolean {
  if ('errors' in error) return codeOf(error) !== '';
  return 'syscall' in error && typeof error.syscall === 'string' && CONNECT_CALLS.has(error.syscall);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function previousOf(error: Error): unknown {
  return 'previous' in error ? error.previous : undefined;
}

const violates = (code: string) => (error: unknown, constraint?: string) =>
  Error.isError(error) &&
  codeOf(error) === code &&
  (constraint === undefined || ('constraint' in error && error.constraint === constraint));

/** Whether PostgreSQL refused a duplicate row; with `constraint`, only because of that constraint. */
export const isUniqueViolation = violates(SQL_STATE.uniqueViolation);

/** Whether PostgreSQL refused a row because of a check; with `constraint`, only because of that one. */
export const isCheckViolation = violates(SQL_STATE.checkViolation);

/** Returns SERVICE_UNAVAILABLE if the database was unavailable; undefined for any other error. */
export function asUnavailable(error: unknown): AppError | undefined {
  return outcomeOf(error) === 'other' ? undefined : unavailable(undefined, error);
}

export interface RetryOptions {
  /** A `read` is always repeated, a `write` only if it certainly had no effect. */
  kind: 'read' | 'write';
  /** @default 2_000 */
  deadlineMs?: number;
}

const BACKOFF: Backoff = { firstMs: 5, maxMs: 200 };

/**
 * Repeats `work` while the database is briefly unavailable, with growing pauses.
 * @throws AppError SERVICE_UNAVAILABLE when it stays unavailable, or when a write's outcome is unknown
 */
export async function retryWhileUnavailable<Result>(
  options: RetryOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const { kind, deadlineMs = 2_000 } = options;
  const deadline = performance.now() + deadlineMs;
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === 'other') throw error;
      const pauseMs = backoffMs(failures, BACKOFF);
      const isRepeatable = outcome === 'not-done' || kind === 'read';
      if (!isRepeatable || performance.now() + pauseMs > deadline) throw unavailable(undefined, error);
      await sleep(pauseMs);
    }
  }
}

/** For operators' work on a store that they may have frozen: reports that, instead of an unavailable store. */
export async function explainFrozen<Result>(store: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    throw conflict(`The store ${store} is read-only (default_transaction_read_only). Allow writes, then repeat this.`);
  }
}

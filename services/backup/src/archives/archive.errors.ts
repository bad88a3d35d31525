import { AppError, conflict, unavailable } from '@taskmesh/contracts';
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { DumpError, LoadError } from '@taskmesh/pg-rows';
import { asUnavailable, outcomeOf, SQL_STATE } from '@taskmesh/store';
import { DiskSpaceError } from '../disk-space.ts';
import { IncompleteStoreError } from '../restore/prepare-store.ts';
import { LockBusyError } from '../run-lock.ts';
import { TooSlowError } from '../stall-detection.ts';
import { KeyError } from './encryption.ts';
import { ExtractionError, TooLargeError } from './limits.ts';
import { ManifestError, OtherReleaseError } from './manifest.ts';

export const FAILURE_REASONS = [
  'disk_full',
  'too_large',
  'permission',
  'store',
  'unsupported',
  'unavailable',
  'defect',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

interface Failure {
  /** The metric's label. */
  reason: FailureReason;
  /** The rest of a sentence for the operator. */
  message: string;
}

const DISK_FULL: Failure = { reason: 'disk_full', message: 'the disk is full' };
const NO_PERMISSION: Failure = { reason: 'permission', message: 'no permission to write' };
const NO_DIRECTORY: Failure = { reason: 'permission', message: 'the archive storage is not a directory' };
const STORE_UNAVAILABLE: Failure = { reason: 'store', message: 'a store was not available' };
const ACCESS_DENIED: Failure = { reason: 'store', message: 'a store refused access' };

const BY_CODE: Record<string, Failure> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EFBIG: { reason: 'disk_full', message: 'it is larger than a file may be' },
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: NO_PERMISSION,
  ENOTDIR: NO_DIRECTORY,
  EEXIST: NO_DIRECTORY,
  ECONNREFUSED: STORE_UNAVAILABLE,
  ENOTFOUND: STORE_UNAVAILABLE,
  EAI_AGAIN: STORE_UNAVAILABLE,
  EHOSTUNREACH: STORE_UNAVAILABLE,
  ETIMEDOUT: STORE_UNAVAILABLE,
  [SQL_STATE.invalidAuthorization]: ACCESS_DENIED,
  [SQL_STATE.invalidPassword]: ACCESS_DENIED,
  [SQL_STATE.insufficientPrivilege]: { reason: 'store', message: 'no permission to read a store' },
  [SQL_STATE.lockNotAvailable]: { reason: 'store', message: 'a store is being changed right now' },
};

/** Returns undefined for a defect. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof DiskSpaceError) return { reason: 'disk_full', message: error.message };
  if (error instanceof TooLargeError) return { reason: 'too_large', message: error.message };
  if (error instanceof DumpError) return { reason: 'unsupported', message: error.message };
  if (error instanceof LockBusyError) return { reason: 'unavailable', message: error.message };
  if (error instanceof TooSlowError) return { reason: 'store', message: 'a store made no progress for too long' };
  return BY_CODE[errorCode(error)] ?? (asUnavailable(error) && STORE_UNAVAILABLE);
}

export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof AppError)) return failureOf(error)?.reason ?? 'defect';
  const reason = failureOf(error.cause)?.reason ?? 'store';
  return reason === 'store' ? 'unavailable' : reason; // not a store but the archive storage was unavailable
}

/** The start of a sentence that continues after a colon. */
export type FailedAction = 'The backup was not made' | 'The archive was not stored' | 'The archive was not verified';

/** Returns the error to show to an operator. Returns unknown errors unchanged. */
export function asBackupFailure(error: unknown, action: FailedAction = 'The backup was not made'): unknown {
  if (error instanceof AppError) return error;
  const failure = failureOf(error);
  if (!failure) return error;
  if (failure.reason === 'unavailable') return unavailable(failure.message, error);
  const message = `${action}: ${failure.message}.`;
  const isOurs = failure.reason === 'unsupported' || failure.reason === 'too_large';
  return isOurs ? conflict(message) : unavailable(message, error);
}

/** The archive can be restored only with losses, because the stores lack something it contains. */
export class LossError extends Error {
  override readonly name = 'LossError';
}

/** No restore would accept the archive. */
class UnfitError extends AppError {
  /** Part of a sentence. */
  readonly reason: string;

  constructor(reason: string, cause: unknown) {
    super('CONFLICT', `The archive is not fit for a restore: ${reason}`, { cause });
    this.reason = reason;
  }
}

const NOT_VERIFIED = 'The archive was not verified';
/** System errors that say nothing about the archive: all but those that names in it can cause. */
const SYSTEM_ERROR = /^(?!(ENAMETOOLONG|EISDIR|ENOTDIR|EEXIST)$)E[A-Z0-9]+$/;
/** PostgreSQL's errors that a dump cannot cause: connections, read-only servers, timeouts, conflicts, locks, resources, operators, system and internal errors. */
const SERVER_ERROR = /^(08|25006|25P0[34]|28|40|53|55|57|58|XX)|^E[A-Z]+$/;

const asNotPermitted = (cause: unknown, error: Error): unknown => {
  const known = asBackupFailure(cause, NOT_VERIFIED);
  return known instanceof AppError ? known : unavailable(`${NOT_VERIFIED}: the system did not permit it.`, error);
};

/** Returns the error for operators: CONFLICT for an unfit archive, SERVICE_UNAVAILABLE if something was unavailable or full. */
export function asVerifyFailure(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof LossError) return new AppError('CONFLICT', error.message, { cause: error });
  const missing = missingPrerequisite(error);
  if (missing)
    return new AppError('CONFLICT', `The archive cannot be verified here: ${missing.message}`, { cause: error });
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof TooSlowError || cause instanceof TooSlowError)
    return unavailable(`${NOT_VERIFIED}: it took too long.`, error);
  if (error instanceof ExtractionError && (cause instanceof DiskSpaceError || SYSTEM_ERROR.test(errorCode(cause))))
    return asNotPermitted(cause, error);
  if (error instanceof LoadError && isServerFailure(cause))
    return unavailable(`${NOT_VERIFIED}: a store's server was not available.`, error);
  const reason = reasonOf(error);
  if (reason === undefined) return asBackupFailure(error, NOT_VERIFIED);
  return new UnfitError(reason, error);
}

/** Returns the error if another key, release or limit may make the archive usable, so that it does not count as unfit. */
function missingPrerequisite(error: unknown): Error | undefined {
  if (error instanceof KeyError || error instanceof OtherReleaseError) return error;
  return error instanceof ExtractionError && error.cause instanceof TooLargeError ? error : undefined;
}

/** Returns why the archive is unfit, as part of a sentence; undefined if it may be usable elsewhere. */
export const findUnfitReason = (failure: unknown): string | undefined =>
  failure instanceof UnfitError ? failure.reason : undefined;

/** Whether verifying the archive needs another key, release or limit. */
export const isUnverifiable = (failure: unknown): boolean =>
  failure instanceof AppError && !!missingPrerequisite(failure.cause);

/** Whether the cause of a LoadError lies with the server and not with the dump. */
export function isServerFailure(cause: unknown): boolean {
  const code = errorCode(cause);
  return code === '' ? outcomeOf(cause) !== 'other' : SERVER_ERROR.test(code);
}

/** Returns one sentence; undefined for failures that the archive did not cause. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof LoadError) return `the dump was not accepted. ${errorMessage(error)}`;
  if (error instanceof ExtractionError || error instanceof ManifestError || error instanceof IncompleteStoreError)
    return errorMessage(error);
  return undefined;
}

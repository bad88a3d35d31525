import { outcomeOf } from '@taskmesh/store';
import { AppError, unavailable } from '@taskmesh/contracts';
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { ExtractionError } from '../archives/extraction-error.ts';
import { TooLargeError } from '../archives/limits.ts';
import { ManifestError, OtherReleaseError } from '../archives/manifest.ts';
import { asBackupFailure } from '../archives/archive.errors.ts';
import { KeyError } from '../archives/archive-cipher.ts';
import { LoadError } from '@taskmesh/pg-rows';
import { IncompleteStoreError } from './prepare-store.ts';
import { DiskSpaceError } from '../disk-space.ts';
import { TooSlowError } from '../stall-detection.ts';

/** No restore would accept the archive, although its files and dumps are valid. The message is part of a sentence. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError';
}

/** The archive can be restored only without what its stores lack. */
export class LossError extends Error {
  override readonly name = 'LossError';
}

const UNDONE = 'The archive was not verified';
const UNFIT = 'The archive is not fit for a restore: ';
/** System errors that say nothing about the archive. */
const SYSTEM = new Set([
  'ENOSPC',
  'EDQUOT',
  'EACCES',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'EIO',
  'EFBIG',
  'ESTALE',
  'ETIMEDOUT',
]);
/** PostgreSQL's errors for which no dump is to blame: connections, limits of time, resources, operators, system, internal errors. */
const SERVER = /^(08|25P0[34]|53|57|58|XX)|^E[A-Z]+$/;

/** The error for operators: CONFLICT for an unfit archive, SERVICE_UNAVAILABLE for what was unavailable or full. */
export function asVerifyFailure(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof LossError) return new AppError('CONFLICT', error.message, { cause: error });
  const unprovable = elsewhere(error);
  if (unprovable)
    return new AppError('CONFLICT', `The archive cannot be proved here: ${unprovable.message}`, { cause: error });
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof TooSlowError || cause instanceof TooSlowError)
    return unavailable(`${UNDONE}: it took too long.`, error);
  if (error instanceof ExtractionError && (cause instanceof DiskSpaceError || SYSTEM.has(errorCode(cause))))
    return asBackupFailure(cause, UNDONE);
  if (error instanceof LoadError && isServersFault(cause))
    return unavailable(`${UNDONE}: a store's server was not available.`, error);
  const reason = reasonOf(error);
  if (reason === undefined) return asBackupFailure(error, UNDONE);
  return new AppError('CONFLICT', UNFIT + reason, { cause: error });
}

/** The error, if another key, another release or other limits may do with the archive: it is not bad. */
function elsewhere(error: unknown): Error | undefined {
  if (error instanceof KeyError || error instanceof OtherReleaseError) return error;
  return error instanceof ExtractionError && error.cause instanceof TooLargeError ? error : undefined;
}

/** Why the archive is unfit, as part of a sentence. Undefined if it may be good elsewhere. */
export function whyUnfit(failure: unknown): string | undefined {
  if (!(failure instanceof AppError) || failure.code !== 'CONFLICT' || isUnprovable(failure)) return undefined;
  return failure.message.startsWith(UNFIT) ? failure.message.slice(UNFIT.length) : undefined;
}

/** Whether judging the archive takes another key, another release or other limits. */
export const isUnprovable = (failure: unknown): boolean => failure instanceof AppError && !!elsewhere(failure.cause);

/** Of the cause of a LoadError. */
export function isServersFault(cause: unknown): boolean {
  const code = errorCode(cause);
  return code === '' ? outcomeOf(cause) !== 'other' : SERVER.test(code);
}

/** One sentence; undefined for failures not caused by the archive. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof VerifyError) return `${error.message}.`;
  if (error instanceof LoadError) return `the dump was not accepted. ${errorMessage(error)}`;
  if (error instanceof ExtractionError || error instanceof ManifestError || error instanceof IncompleteStoreError)
    return errorMessage(error);
  return undefined;
}

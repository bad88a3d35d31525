import { asUnavailable, SQL_STATE } from '@taskmesh/store';
import { AppError, conflict, unavailable } from '@taskmesh/contracts';
import { errorCode } from '@taskmesh/contracts/error-details';
import { TooLargeError } from './limits.ts';
import { DumpError } from '@taskmesh/pg-rows';
import { DiskSpaceError } from '../disk-space.ts';
import { TooSlowError } from '../stall-detection.ts';

const AWAY = 'a store was not available';

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it is larger than a file may be',
  EACCES: 'no permission to write',
  EPERM: 'no permission to write',
  EROFS: 'no permission to write',
  ENOTDIR: 'the place of the archives is no directory',
  EEXIST: 'the place of the archives is no directory',
  ECONNREFUSED: AWAY,
  ENOTFOUND: AWAY,
  EAI_AGAIN: AWAY,
  EHOSTUNREACH: AWAY,
  ETIMEDOUT: AWAY,
  [SQL_STATE.invalidAuthorization]: 'a store does not let us in',
  [SQL_STATE.invalidPassword]: 'a store does not let us in',
  [SQL_STATE.insufficientPrivilege]: 'no permission to read a store',
  [SQL_STATE.lockNotAvailable]: 'a store is being changed right now',
};

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

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const PERMISSION = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

export function failureReason(error: unknown): FailureReason {
  const code = errorCode(error instanceof AppError ? error.cause : error);
  if (error instanceof DiskSpaceError || DISK_FULL.has(code)) return 'disk_full';
  if (PERMISSION.has(code)) return 'permission';
  if (error instanceof TooLargeError) return 'too_large';
  if (error instanceof DumpError) return 'unsupported';
  if (error instanceof AppError) return 'unavailable';
  return code in REASONS || error instanceof TooSlowError || asUnavailable(error) ? 'store' : 'defect';
}

/** The start of a sentence that continues after a colon. */
export type Undone = 'The backup was not made' | 'The archive was not stored' | 'The archive was not verified';

/** The error to show to an operator. Unknown ones are returned unchanged. */
export function asBackupFailure(error: unknown, undone: Undone = 'The backup was not made'): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof DumpError || error instanceof TooLargeError) return conflict(`${undone}: ${error.message}.`);
  if (error instanceof DiskSpaceError) return unavailable(`${undone}: ${error.message}.`, error);
  if (error instanceof TooSlowError) return unavailable(`${undone}: a store did not get on for too long.`, error);
  const reason = REASONS[errorCode(error)];
  if (reason) return unavailable(`${undone}: ${reason}.`, error);
  const away = asUnavailable(error);
  return away ? unavailable(`${undone}: ${AWAY}.`, error) : error;
}

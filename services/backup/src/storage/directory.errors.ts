import { AppError, unavailable } from '@taskmesh/contracts';
import { errorCode } from '@taskmesh/contracts/error-details';

const NO_PERMISSION = 'no permission';
const NO_DIRECTORY = 'it is no directory';

const REASONS: Record<string, string> = {
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: 'it may only be read',
  ENOENT: 'it is not there',
  ENOTDIR: NO_DIRECTORY,
  EEXIST: NO_DIRECTORY,
};
const SYSTEM = /^E[A-Z0-9]+$/;

/** The error for operators, without paths; `cause` has the details for the log. A defect is returned unchanged. */
export function asDirectoryFailure(error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof AppError || !SYSTEM.test(code)) return error;
  const reason = REASONS[code] ?? `the system cannot (${code})`;
  return unavailable(`The directory of the archives cannot be used: ${reason}.`, error);
}

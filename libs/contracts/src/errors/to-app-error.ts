import { AppError } from './app-error.ts';
import { HTTP_STATUS, type ErrorCode } from './codes.ts';

const BY_STATUS = new Map<number, ErrorCode>(
  Object.entries(HTTP_STATUS).map(([code, status]) => [status, code as ErrorCode]), // the keys are codes
);

/** Turns anything thrown into an error that clients may see; a framework's own errors have a `statusCode`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (!(status >= 400 && status < 500))
    return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error.', { cause: error });
  return new AppError(BY_STATUS.get(status) ?? 'BAD_USER_INPUT', 'The request could not be read.', { cause: error });
}

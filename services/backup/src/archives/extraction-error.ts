import { errorCode } from '@taskmesh/contracts/error-details';

/** An archive that was not extracted: broken, hostile, or over a limit. The message is for the operator. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError';
}

export function asExtractionError(error: unknown): ExtractionError {
  if (error instanceof ExtractionError) return error;
  return new ExtractionError(`The archive cannot be extracted: ${reasonOf(error)}.`, { cause: error });
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'a file in it is too large',
  EACCES: 'no permission to write',
  EROFS: 'no permission to write',
  Z_BUF_ERROR: 'it ends too early',
  Z_DATA_ERROR: 'it is no intact gzip file',
  TAR_BAD_ARCHIVE: 'it holds no tar file, or a broken one',
  TAR_ENTRY_INVALID: 'it holds a broken tar file',
  TAR_ENTRY_ERROR: 'it holds an entry that is not allowed',
};

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return REASONS[code] ?? `it could not be read${code && ` (${code})`}`;
}

import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError, unavailable } from '@taskmesh/contracts';

const NO_CREDENTIALS = 'CredentialsProviderError';
const REFUSED_STATUS = new Set([401, 403]);
const NO_BUCKET = new Set(['NoSuchBucket', 'PermanentRedirect']);
const NOT_FOUND = new Set(['NotFound', 'NoSuchKey']);
const TAKEN = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

const nameOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';

/** No such object. For requests about one object, a missing bucket looks the same. */
export const isNotFound = (error: unknown): boolean => NOT_FOUND.has(nameOf(error));

/** The name is taken, or another client is writing that object right now. */
export const isTaken = (error: unknown): boolean => TAKEN.has(nameOf(error));

/** The upload has ended in some way. */
export const isNoUpload = (error: unknown): boolean => nameOf(error) === 'NoSuchUpload';

/** The error for operators; `cause` has the details for the log. */
export function asBucketFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const name = nameOf(error);
  if (name === NO_CREDENTIALS || isRefused(error))
    return unavailable('The bucket of the archives does not let us in.', error);
  if (NO_BUCKET.has(name)) return unavailable('The bucket of the archives is not there.', error);
  return unavailable('The bucket of the archives was not available.', error);
}

/** Any page of a proxy parses like an empty bucket. */
export function refuseAnswer(): never {
  throw unavailable('What answers at the address of the bucket is no bucket.');
}

/** By status, because servers use different error names. */
function isRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && REFUSED_STATUS.has(error.$metadata.httpStatusCode ?? 0);
}

import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError, unavailable } from '@taskmesh/errors';

/** What the library says when it has nothing to sign with. */
const NO_CREDENTIALS = 'CredentialsProviderError';
const REFUSED_STATUS = new Set([401, 403]);
const NO_BUCKET = new Set(['NoSuchBucket', 'PermanentRedirect']);
const NOT_FOUND = new Set(['NotFound', 'NoSuchKey']);
const TAKEN = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

const nameOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';

/** No such object. A missing bucket looks the same to a question about one object. */
export const isNotFound = (error: unknown): boolean => NOT_FOUND.has(nameOf(error));

/** There is an object of that name, or somebody else makes one right now. */
export const isTaken = (error: unknown): boolean => TAKEN.has(nameOf(error));

/** The upload is over, one way or the other. */
export const isNoUpload = (error: unknown): boolean => nameOf(error) === 'NoSuchUpload';

/** What an operator is told; `cause` says the rest to the log. */
export function asBucketFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const name = nameOf(error);
  if (name === NO_CREDENTIALS || isRefused(error))
    return unavailable('The bucket of the archives does not let us in.', error);
  if (NO_BUCKET.has(name)) return unavailable('The bucket of the archives is not there.', error);
  return unavailable('The bucket of the archives was not available.', error);
}

/** A proxy's page of any kind reads like a bucket without objects. */
export function refuseAnswer(): never {
  throw unavailable('What answers at the address of the bucket is no bucket.');
}

/** Servers have names of their own for it. */
function isRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && REFUSED_STATUS.has(error.$metadata.httpStatusCode ?? 0);
}

/** Extracts one archive, which it reads from standard input: a hostile one can harm only this process's memory. */
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { runWorkerJob } from '../run-worker-job.ts';
import { asExtractionError } from './extraction-error.ts';
import { unpackArchive, type Unpacking } from './unpack-archive.ts';

export type Told =
  { kind: 'extracted' } | { kind: 'failed'; message: string; cause?: { name: string; code: string; message: string } };

runWorkerJob((order: Unpacking) =>
  unpackArchive(process.stdin, order).then((): Told => ({ kind: 'extracted' }), failure),
);

function failure(error: unknown): Told {
  const { message, cause } = asExtractionError(error);
  const name = cause instanceof Error ? cause.name : '';
  const told = { name, code: errorCode(cause), message: errorMessage(cause) };
  return { kind: 'failed', message, ...(cause === undefined ? {} : { cause: told }) };
}

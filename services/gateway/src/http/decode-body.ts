import { AppError, unavailable } from '@taskmesh/errors';
import pLimit from 'p-limit';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';

export type Decode = (bytes: Buffer, maxBytes: number) => Promise<Buffer>;

/** Their windows have 32 KiB; one of brotli may have 16 MiB, whatever the body expands to. */
const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

/** A decoder takes about a millisecond per body. The others wait in order. */
const CONCURRENCY = 2;
const MAX_WAITING = 200;
const MAX_WAIT_MS = 10_000;
/** Output arrives in pieces of this size, each from a thread. */
const CHUNK_BYTES = 128 * 1024;

const limit = pLimit(CONCURRENCY);

/** @throws AppError UNSUPPORTED_MEDIA_TYPE; the function SERVICE_UNAVAILABLE, or what zlib reports */
export function decoderOf(encoding: string): Decode {
  const decode = DECODERS.get(encoding);
  if (!decode) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding must be gzip or deflate.');
  return (bytes, maxOutputLength) => {
    if (limit.pendingCount >= MAX_WAITING) throw tooBusy();
    const giveUpAt = performance.now() + MAX_WAIT_MS;
    return limit(() => {
      if (performance.now() > giveUpAt) throw tooBusy();
      return decode(bytes, { maxOutputLength, chunkSize: CHUNK_BYTES });
    });
  };
}

const tooBusy = () => unavailable('Too many compressed bodies arrive right now; try again.');

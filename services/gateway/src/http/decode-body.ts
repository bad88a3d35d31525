import { AppError, unavailable } from '@taskmesh/errors';
import { createBulkhead } from '@taskmesh/service';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';

export type Decode = (bytes: Buffer, limits: { maxBytes: number; network: string }) => Promise<Buffer>;

/** Their windows have 32 KiB; one of brotli may have 16 MiB, whatever the body expands to. */
const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

const MAX_WAIT_MS = 10_000;
/** Output arrives in pieces of this size, each from a thread. */
const CHUNK_BYTES = 128 * 1024;

const tooBusy = () => unavailable('Too many compressed bodies arrive right now; try again.');
/** A decoder takes some milliseconds per body. Each network has one body among those that wait for a decoder. */
const networks = createBulkhead({ concurrency: 1, maxWaiting: 64, maxWaitMs: MAX_WAIT_MS, refusal: tooBusy });
const decoders = createBulkhead({ concurrency: 2, maxWaitMs: MAX_WAIT_MS, refusal: tooBusy });

/** @throws AppError UNSUPPORTED_MEDIA_TYPE; the function SERVICE_UNAVAILABLE, or what zlib reports */
export function decoderOf(encoding: string): Decode {
  const decode = DECODERS.get(encoding);
  if (!decode) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding must be gzip or deflate.');
  return (bytes, { maxBytes, network }) => {
    const work = () => decode(bytes, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES });
    return networks.run(network, () => decoders.run('all', work));
  };
}

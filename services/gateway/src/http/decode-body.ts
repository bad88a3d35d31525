import { AppError, unavailable } from '@taskmesh/contracts';
import { createFairQueue } from '@taskmesh/service';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';

export type Decode = (bytes: Buffer, limits: { maxBytes: number; network: string }) => Promise<Buffer>;

/** Their windows have 32 KiB; one of brotli may have 16 MiB, whatever the body expands to. */
const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

/** Output arrives in pieces of this size, each from a thread. */
const CHUNK_BYTES = 128 * 1024;

/** A decoder takes some milliseconds per body. Networks take turns. */
const decoders = createFairQueue({
  concurrency: 2,
  maxWaiting: 200,
  maxWaitMs: 10_000,
  refusal: () => unavailable('Too many compressed bodies arrive right now; try again.'),
});

/** @throws AppError UNSUPPORTED_MEDIA_TYPE; the function SERVICE_UNAVAILABLE, or what zlib reports */
export function decoderOf(encoding: string): Decode {
  const decode = DECODERS.get(encoding);
  if (!decode) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding must be gzip or deflate.');
  return (bytes, { maxBytes, network }) =>
    decoders.run(network, () => decode(bytes, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES }));
}

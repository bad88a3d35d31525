import { AppError, unavailable } from '@taskmesh/contracts';
import { receiveBody } from '@taskmesh/internal-api';
import { createFairQueue } from '@taskmesh/service';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { asClientRequest } from './client-request.ts';

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A body may take long, but must not stall. */
const SILENCE_MS = 30_000;

const exempt = new WeakSet<Socket>();

/** Whether this connection is currently exempt from the request timeout. */
export const isTimeoutExempt = (socket: Socket): boolean => exempt.has(socket);

/**
 * A request's body as a stream of any length: exempt from the request timeout, but it must not pause for `silenceMs`.
 * Destroying the stream refuses the rest.
 */
export function openLongBody(request: IncomingMessage, { silenceMs = SILENCE_MS } = {}): Readable {
  asClientRequest(request).passOn();
  const { socket } = request;
  exempt.add(socket);
  const body = receiveBody(request, { silenceMs });
  body.once('close', () => exempt.delete(socket));
  return body;
}

/**
 * Responds to `Expect: 100-continue` only when the body is needed, so that the body of a request that is refused before (for
 * its token, path or size) is never uploaded. Unknown expectations are ignored.
 */
export function awaitContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response;
    // Unless the body is read, the request never ends on this connection, so the response must be the last one.
    response.shouldKeepAlive = false;
    asClientRequest(request).sendContinue = () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    };
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** `bytes` returns what to decode, once a decoder is free. */
export type Decode = (
  bytes: () => Buffer,
  limits: { maxBytes: number; network: string; signal: AbortSignal },
) => Promise<Buffer>;

/** Their windows take 32 KiB. Brotli's may take 16 MiB, even for a small body. */
const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

/** Output arrives in pieces of this size, each from a thread. */
const CHUNK_BYTES = 128 * 1024;

/** A decoder needs a few milliseconds per body. Networks take turns. */
const decoders = createFairQueue({
  concurrency: 2,
  maxWaiting: 200,
  maxWaitMs: 10_000,
  refusal: () => unavailable('Too many compressed bodies arrive right now; try again.'),
});

/** @throws AppError UNSUPPORTED_MEDIA_TYPE; the returned function rejects with SERVICE_UNAVAILABLE, or an error of zlib */
export function decoderOf(encoding: string): Decode {
  const decode = DECODERS.get(encoding);
  if (!decode) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding must be gzip or deflate.');
  return (bytes, { maxBytes: maxOutputLength, network, signal }) =>
    decoders.run(network, async () => decode(bytes(), { maxOutputLength, chunkSize: CHUNK_BYTES }), { signal });
}

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
export const mayTakeLong = (socket: Socket): boolean => exempt.has(socket);

/**
 * A request's body as a stream of any length: exempt from the request timeout, but limited in silence. Destroying the
 * stream refuses the rest.
 */
export function longBodyOf(request: IncomingMessage, { silenceMs = SILENCE_MS } = {}): Readable {
  asClientRequest(request).passOn();
  const { socket } = request;
  exempt.add(socket);
  const body = receiveBody(request, { silenceMs });
  body.once('close', () => exempt.delete(socket));
  return body;
}

/**
 * `Expect: 100-continue` is answered only when the body is wanted, so that a request that is refused before (for its
 * token, path or size) is never uploaded. Unknown expectations are ignored.
 */
export function awaitContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response;
    // Unless the body is read, the request never ends on this connection, so the answer has to be its last.
    response.shouldKeepAlive = false;
    asClientRequest(request).sendContinue = () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    };
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** `bytes` says what to decode when its turn has come. */
export type Decode = (
  bytes: () => Buffer,
  limits: { maxBytes: number; network: string; signal: AbortSignal },
) => Promise<Buffer>;

/** Their windows have 32 KiB; one of brotli may have 16 MiB, even for a small body. */
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
  return (bytes, { maxBytes, network, signal }) =>
    decoders.run(network, async () => decode(bytes(), { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES }), signal);
}

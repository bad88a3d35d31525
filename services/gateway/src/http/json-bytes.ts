import { AppError, badUserInput, unavailable } from '@taskmesh/contracts';
import { networkOf } from '@taskmesh/service';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { currentResponse } from './client-connections.ts';
import { decoderOf, hasBody, sendContinue } from './bodies.ts';
import { headerValues } from './client.ts';

/** Limit for bodies, both before and after decompression. */
export const BODY_LIMIT_BYTES = 1024 * 1024;

const UTF_8_CHARSET = /^\s*charset\s*=\s*"?utf-?8"?\s*$/i;

/** Of each body, this much is always accepted, so that ordinary requests are served beside many large ones. */
const ORDINARY_BYTES = 16 * 1024;
/** What all bodies together may hold beyond that. A body of a stranger is read before its sender is known. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** Each piece of a body costs time and memory, even if it is a single byte. */
const MAX_PIECES = 4_096;
const PIECE_BYTES = 256;
/** As long as an operation may wait and run. */
const MAX_HOLD_MS = 15_000;
let heldBytes = 0;
const releases = new WeakMap<IncomingMessage, () => void>();
/** How to give up the bodies that are still arriving, the oldest first. */
const arriving = new Set<() => void>();

/**
 * Reads a JSON body of the client with this address, limited in size and decompressed.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, then PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE, then BAD_USER_INPUT
 */
export async function readJsonBytes(request: IncomingMessage, ip: string): Promise<Buffer> {
  if (!hasBody(request)) throw invalidBody('A JSON body is needed.');
  const [contentType = ''] = headerValues(request, 'content-type'); // `hideContentType` clears the parsed one
  requireJson(contentType);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decode = encoding === 'identity' ? undefined : decoderOf(encoding);
  const held = holdBytes(request);
  try {
    const bytes = await readBytes(request, held);
    const whole = decode
      ? await decode(bytes, { maxBytes: BODY_LIMIT_BYTES, network: networkOf(ip) }).catch(refuseEncoded)
      : bytes;
    if (decode && !held.hasRoomFor(whole.length)) throw tooMany();
    held.releaseLater();
    return whole;
  } catch (error) {
    held.release();
    throw error;
  }
}

/** A body's share in what all bodies hold. It lasts until the answer, as what was parsed waits with its operation, even if its client leaves. */
function holdBytes(request: IncomingMessage) {
  const { socket } = request;
  let response: ServerResponse | undefined;
  let ownBytes = 0;
  let isReleased = false;
  let timer: NodeJS.Timeout | undefined;
  const set = (bytes: number) => {
    heldBytes += bytes - ownBytes;
    ownBytes = bytes;
  };
  const release = () => {
    isReleased = true;
    set(0);
    clearTimeout(timer);
    socket.off('close', release);
    response?.off('prefinish', release);
  };
  return {
    /**
     * Whether there is room for a body that has grown to this size, if need be in place of those that have been arriving for
     * the longest: who sends slowly must not keep others from being served.
     */
    hasRoomFor(sizeBytes: number, own?: () => void): boolean {
      if (sizeBytes <= ORDINARY_BYTES || isReleased || socket.destroyed) return true;
      if (ownBytes === 0) {
        socket.once('close', release);
        response = currentResponse(socket);
        response?.once('prefinish', release);
      }
      set(sizeBytes - ORDINARY_BYTES);
      if (own) arriving.add(own);
      for (const giveUp of arriving) {
        if (heldBytes <= MAX_HELD_BYTES) break;
        if (giveUp !== own) giveUp();
      }
      return heldBytes <= MAX_HELD_BYTES;
    },
    release,
    releaseLater() {
      socket.off('close', release);
      if (ownBytes === 0) return;
      timer = setTimeout(release, MAX_HOLD_MS).unref();
      releases.set(request, release);
    },
  };
}

/** Of each message of a socket, this much is always accepted: many wait with their operations. */
const ORDINARY_MESSAGE_BYTES = 4 * 1024;

/**
 * A message's share in what all bodies hold, while its operation waits and runs; undefined when there is no room for it. To
 * be released once.
 */
export function holdMessage(sizeBytes: number): (() => void) | undefined {
  const bytes = Math.max(0, sizeBytes - ORDINARY_MESSAGE_BYTES);
  if (bytes > 0 && heldBytes + bytes > MAX_HELD_BYTES) return undefined;
  heldBytes += bytes;
  return () => void (heldBytes -= bytes);
}

/** Ends a body's share before its answer has ended: a stream goes on for hours without it. */
export const releaseBody = (request: IncomingMessage): void => releases.get(request)?.();

/** JSON is UTF-8 (RFC 8259); other charsets are refused, not guessed. */
function requireJson(contentType: string): void {
  if (contentType === 'application/json') return;
  const [type = '', ...parameters] = contentType.split(';');
  const isJson = type.trim().toLowerCase() === 'application/json';
  const isUtf8 = parameters.every((parameter) => !/^\s*charset\b/i.test(parameter) || UTF_8_CHARSET.test(parameter));
  if (!isJson || !isUtf8) throw unsupported('The body must be application/json in UTF-8.');
}

function readBytes(request: IncomingMessage, held: ReturnType<typeof holdBytes>): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) throw tooLarge();
  if (request.destroyed) throw cut(); // while its caller was looked up: no event would tell
  sendContinue(request);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes > BODY_LIMIT_BYTES) settle(() => reject(tooLarge()));
      else if (chunks.length > MAX_PIECES) refusePieces();
      else if (!held.hasRoomFor(sizeBytes + chunks.length * PIECE_BYTES, giveUp)) giveUp();
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onCut = () => settle(() => reject(cut()));
    const giveUp = () => {
      held.release();
      settle(() => reject(tooMany()));
    };
    const refusePieces = () => {
      const response = currentResponse(request.socket);
      if (response) response.shouldKeepAlive = false; // Otherwise the rest would be read, and thrown away.
      settle(() => reject(tooManyPieces()));
    };
    const settle = (then: () => void) => {
      arriving.delete(giveUp);
      request.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      then();
    };
    request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  });
}

function refuseEncoded(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw isTooLarge(cause) ? tooLarge() : invalidBody('The body does not fit its content encoding.');
}

/** zlib's code for output above the limit. */
const isTooLarge = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';

/** The whole body is invalid, so the issue has no path. */
export const invalidBody = (message: string) => badUserInput([{ path: '', message }]);

const cut = () => invalidBody('The body ended too early.');
const unsupported = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', message);
export const tooMany = () => unavailable('Too many large requests arrive right now; try again.');
const tooManyPieces = () => new AppError('PAYLOAD_TOO_LARGE', 'The body arrives in too many pieces.');
const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', 'The body must not be larger than 1 MiB.');

import { AppError, badUserInput, unavailable } from '@taskmesh/errors';
import { headerValues } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import { decoderOf } from './decode-body.ts';
import { sendContinue } from './expect-continue.ts';

/** Limit for bodies, both before and after decompression. */
export const BODY_LIMIT_BYTES = 1024 * 1024;

const UTF_8_CHARSET = /^\s*charset\s*=\s*"?utf-?8"?\s*$/i;

/** Of each body, this much is always accepted, so that ordinary requests are served beside many large ones. */
const ORDINARY_BYTES = 16 * 1024;
/** What all bodies together may hold beyond that. A body of a stranger is read before its sender is known. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
let heldBytes = 0;

/**
 * Reads a JSON body, limited in size and decompressed.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, then PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE, then BAD_USER_INPUT
 */
export async function readJsonBytes(request: IncomingMessage): Promise<Buffer> {
  if (!hasBody(request)) throw invalidBody('A JSON body is needed.');
  const [contentType = ''] = headerValues(request, 'content-type'); // `hideContentType` clears the parsed one
  requireJson(contentType);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decode = encoding === 'identity' ? undefined : decoderOf(encoding);
  const held = holdBytes();
  try {
    const bytes = await readBytes(request, held);
    return decode ? await decode(bytes, BODY_LIMIT_BYTES).catch(refuseEncoded) : bytes;
  } finally {
    held.release();
  }
}

/** A body's share in what all bodies hold. */
function holdBytes() {
  let ownBytes = 0;
  const set = (bytes: number) => {
    heldBytes += bytes - ownBytes;
    ownBytes = bytes;
  };
  return {
    /** Whether there is room for a body that has grown to this size. */
    hasRoomFor(sizeBytes: number): boolean {
      set(Math.max(0, sizeBytes - ORDINARY_BYTES));
      return ownBytes === 0 || heldBytes <= MAX_HELD_BYTES;
    },
    release: () => set(0),
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

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
      else if (!held.hasRoomFor(sizeBytes)) settle(() => reject(tooMany()));
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onCut = () => settle(() => reject(cut()));
    const settle = (then: () => void) => {
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
const tooMany = () => unavailable('Too many large requests arrive right now; try again.');
const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', 'The body must not be larger than 1 MiB.');

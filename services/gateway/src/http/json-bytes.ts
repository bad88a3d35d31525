import { AppError, badUserInput } from '@taskmesh/errors';
import { headerValues } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { sendContinue } from './expect-continue.ts';

/** Limit for bodies, both before and after decompression. */
export const BODY_LIMIT_BYTES = 1024 * 1024;

const UTF_8_CHARSET = /^\s*charset\s*=\s*"?utf-?8"?\s*$/i;

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * Reads a JSON body, limited in size and decompressed.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, then PAYLOAD_TOO_LARGE, then BAD_USER_INPUT
 */
export async function readJsonBytes(request: IncomingMessage): Promise<Buffer> {
  if (!hasBody(request)) throw invalidBody('A JSON body is needed.');
  const [contentType = ''] = headerValues(request, 'content-type'); // `hideContentType` clears the parsed one
  requireJson(contentType);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return readBytes(request);
  const decode = DECODERS.get(encoding);
  if (!decode) throw unsupported('The content encoding is not supported.');
  const bytes = await readBytes(request);
  try {
    return await decode(bytes, { maxOutputLength: BODY_LIMIT_BYTES });
  } catch (cause) {
    if (isTooLarge(cause)) throw tooLarge();
    throw invalidBody('The body does not fit its content encoding.');
  }
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

function readBytes(request: IncomingMessage): Promise<Buffer> {
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

/** zlib's code for output above the limit. */
const isTooLarge = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';

/** The whole body is invalid, so the issue has no path. */
export const invalidBody = (message: string) => badUserInput([{ path: '', message }]);

const cut = () => invalidBody('The body ended too early.');
const unsupported = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', message);
const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', 'The body must not be larger than 1 MiB.');

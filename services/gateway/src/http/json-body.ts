import { AppError } from '@taskmesh/contracts';
import { isObject, networkOf } from '@taskmesh/service';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { GatewayContext } from '../context.ts';
import { decoderOf, hasBody } from './bodies.ts';
import { asClientRequest, BODY_LIMIT_BYTES, type ClientRequest, invalidBody, bodyTooLarge } from './client-request.ts';
import { headerValues } from './client.ts';

/** A body of this size takes well below a millisecond to parse. */
const QUICK_BYTES = 16 * 1024;
const UTF_8_CHARSET = /^\s*charset\s*=\s*"?utf-?8"?\s*$/i;

/**
 * Reads a body as a JSON object, limited in size and decompressed. The last of repeated keys wins; a byte order mark is skipped.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, then PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE, then BAD_USER_INPUT
 */
export async function readJsonObject(
  raw: IncomingMessage,
  { clientIp, blockingWork }: Pick<GatewayContext, 'clientIp' | 'blockingWork'>,
  parseText?: (text: string) => unknown,
): Promise<object> {
  const request = asClientRequest(raw);
  if (!hasBody(request)) throw invalidBody('A JSON body is needed.');
  const [contentType = ''] = headerValues(request, 'content-type'); // `trimHeaders` clears the parsed one
  requireJson(contentType);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decode = encoding === 'identity' ? undefined : decoderOf(encoding);
  let bytes = await readBytes(request);
  const parse = (whole: Buffer) => {
    const parts = partsOf(whole);
    request.keep(memoryOf(whole, parts));
    return parseJsonObject(whole, parseText, parts);
  };
  if (!decode && bytes.length <= QUICK_BYTES) return parse(bytes);

  const network = networkOf(clientIp(request));
  const refused = new AbortController(); // takes a refused body out of the queues, and releases its memory
  request.onRefused = () => refused.abort();
  const { signal } = refused;
  const present = <Value>(value: Value) => {
    if (request.refusal || request.socket.destroyed) throw cut(); // happened while it waited
    return value;
  };
  try {
    const limits = { maxBytes: BODY_LIMIT_BYTES, network, signal };
    if (decode) bytes = await decode(() => present(bytes), limits).catch(refuseEncoded);
    request.keep(bytes.length, { givesWay: true });
    const parsePresent = () => parse(present(bytes));
    return bytes.length > QUICK_BYTES ? await blockingWork.run(network, parsePresent, signal) : parsePresent();
  } catch (error) {
    throw request.refusal ?? error;
  } finally {
    request.onRefused = undefined;
  }
}

/** JSON is UTF-8 (RFC 8259); other charsets are refused, not guessed. */
function requireJson(contentType: string): void {
  if (contentType === 'application/json') return;
  const [type = '', ...parameters] = contentType.split(';');
  const isJson = type.trim().toLowerCase() === 'application/json';
  const isUtf8 = parameters.every((parameter) => !/^\s*charset\b/i.test(parameter) || UTF_8_CHARSET.test(parameter));
  if (!isJson || !isUtf8) throw unsupported('The body must be application/json in UTF-8.');
}

function readBytes(request: ClientRequest): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) throw bodyTooLarge();
  if (request.refusal) throw request.refusal;
  if (request.destroyed) throw cut(); // while its caller was looked up: no event would follow
  request.sendContinue?.();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const onData = (chunk: Buffer) => chunks.push(chunk);
    const onEnd = () => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onCut = () => settle(() => reject(cut()));
    const settle = (then: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      request.onRefused = undefined;
      then();
    };
    request.onRefused = (refusal) => settle(() => reject(refusal));
    request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  });
}

function refuseEncoded(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw isTooLarge(cause) ? bodyTooLarge() : invalidBody('The body does not match its content encoding.');
}

/** zlib's code for output above the limit. */
const isTooLarge = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';

const cut = () => invalidBody('The body ended too early.');
const unsupported = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', message);

const MAX_DEPTH = 32;
/** Keys and values together. A body of 1 MiB could have hundreds of thousands, and each is processed several times. */
export const MAX_PARTS = 10_000;
/** Memory of a parsed key or value: most take much more than their text. */
const PART_BYTES = 64;

/** The memory of a JSON text and its parsed value. */
export const memoryOf = (bytes: Buffer, parts = partsOf(bytes)): number => bytes.length + PART_BYTES * parts;

/**
 * @throws AppError BAD_USER_INPUT for invalid UTF-8, invalid JSON, anything but an object, too many keys and values, and
 * nesting beyond 32 levels
 */
export function parseJsonObject(
  bytes: Buffer,
  parseText: (text: string) => unknown = JSON.parse,
  parts = partsOf(bytes),
): object {
  if (!isUtf8(bytes)) throw invalidBody('The body is not valid UTF-8.');
  if (parts > MAX_PARTS) throw invalidBody('The body has more than 10,000 keys and values.');
  const value = parse(bytes, parseText);
  if (!isObject(value)) throw invalidBody('The body must be a JSON object.');
  if (isTooDeep(value)) throw invalidBody(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Precede each key and value except the outermost. Empty lists and objects have one as well, so they count twice. */
const BEFORE_PART = new Set(Buffer.from('{[,:'));

/** Counts keys and values, up to one more than allowed. Done before parsing, which takes long for many. */
export function partsOf(bytes: Buffer): number {
  let parts = 1;
  let isText = false;
  for (let at = 0; at < bytes.length && parts <= MAX_PARTS; at++) {
    const byte = bytes[at] as number; // within its length
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at++;
    else if (!isText && BEFORE_PART.has(byte)) parts++;
  }
  return parts;
}

function parse(bytes: Buffer, parseText: (text: string) => unknown): unknown {
  const text = bytes.toString();
  try {
    return parseText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw invalidBody('The body is not valid JSON.'); // the parser's own message would repeat parts of the body
  }
}

/** Whether untrusted input is nested so deeply that processing it could overflow the stack. */
export function isTooDeep(value: object): boolean {
  return isDeeperThan(value, MAX_DEPTH);
}

function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}

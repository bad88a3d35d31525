import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/**
 * The highest weight that an `Accept` header gives to a matching range (RFC 9110, 12.5.1); 0 if no range matches, or all
 * that do are refused.
 */
export function weightIn(accept: string, isMeant: (range: string) => boolean): number {
  return Math.max(0, ...rangesIn(accept).filter(isMeant).map(weightOf));
}

/** The most specific pattern that matches a range decides. */
const JSON_RANGES = [/^application\/(?:json|graphql-response\+json)(?:;|$)/, /^application\/\*/, /^\*\/\*/];

/** How much a client wants JSON. */
export function jsonWeightIn(accept: string): number {
  const ranges = rangesIn(accept);
  const deciding = JSON_RANGES.find((pattern) => ranges.some((range) => pattern.test(range)));
  return deciding ? weightIn(accept, (range) => deciding.test(range)) : 0;
}

/** Whether a client accepts this media type, with at least the weight of JSON. */
export function prefers(accept: string | undefined, type: string): boolean {
  const weight = weightIn(accept ?? '', (range) => range.split(';', 1)[0] === type);
  return weight > 0 && weight >= jsonWeightIn(accept ?? '');
}

const rangesIn = (accept: string) =>
  accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replaceAll(/\s/g, ''));

const weightOf = (range: string) => Number(/;q=([\d.]+)/.exec(range)?.[1] ?? 1);

const gzipAsync = promisify(gzip);
/** Below this, compression costs more than it saves. */
const MIN_LENGTH = 4 * 1024;
/** From this length on, texts take milliseconds to serialize, and as many to encode. */
const LARGE_LENGTH = 256 * 1024;
const LEVEL = 3;
/** Beyond this, responses are sent uncompressed: a large one takes long to compress, and must not delay others. */
const CONCURRENCY = 2;
let running = 0;

/**
 * Prepares a text for sending. All but short ones become bytes, because a connection counts a waiting string in characters.
 * A large one is encoded in another turn of the event loop than the one that serialized it.
 */
export async function encodeText(text: string): Promise<string | Buffer> {
  if (!isCompressible(text)) return text;
  if (text.length >= LARGE_LENGTH) await nextTurn();
  return Buffer.from(text);
}

/** Whether a text of this length is compressed for a client that accepts gzip. */
const isCompressible = (text: string | Buffer): boolean => text.length >= MIN_LENGTH;

/** Whether a client accepts gzip, with at least the weight of an uncompressed response. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (!acceptEncoding) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': String(acceptEncoding) } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}

/** Compresses on a thread, few at a time. Undefined if the client does not accept gzip, or while others are being compressed. */
export async function gzipFor(
  acceptEncoding: string | string[] | undefined,
  text: string | Buffer,
): Promise<Buffer | undefined> {
  if (running >= CONCURRENCY || !acceptsGzip(acceptEncoding)) return undefined;
  running++;
  try {
    return await gzipAsync(text, { level: LEVEL });
  } finally {
    running--;
  }
}

/** Sends a text, compressed if that is allowed and the client accepts it. */
export async function sendText(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { text, mayCompress }: { text: string; mayCompress: boolean },
): Promise<FastifyReply> {
  const body = await encodeText(text);
  if (!mayCompress || !isCompressible(body)) return reply.send(body);
  addVary(reply, 'Accept-Encoding');
  const compressed = await gzipFor(headers['accept-encoding'], body);
  return compressed ? reply.header('content-encoding', 'gzip').send(compressed) : reply.send(body);
}

/** Tells caches that the response depends on this request header, in addition to those named before. */
export function addVary(reply: FastifyReply, name: string): FastifyReply {
  const before = reply.getHeader('vary');
  return reply.header('vary', before === undefined ? name : `${String(before)}, ${name}`);
}

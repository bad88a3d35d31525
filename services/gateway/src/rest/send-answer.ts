import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { encodeText, gzipFor, isCompressible } from '../http/compress.ts';
import { JSON_TYPE } from '../http/errors.ts';
import { addVary } from '../http/vary.ts';
import type { Answer } from './endpoint.ts';
import { isKnown } from './request/preconditions.ts';

export type GivenAnswer = Answer & { status: number };

const READS = new Set(['GET', 'HEAD']);

export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: GivenAnswer,
): Promise<FastifyReply> {
  const { status, headers, body, etag, next } = answer;
  // Caches may keep an answer, but not for others, and not without asking whether it has changed.
  const isSecret = reply.getHeader('cache-control') === 'no-store';
  if (!isSecret) reply.header('cache-control', 'private, no-cache');
  if (headers) reply.headers(headers);
  // Relative to the requested URL, as proxies may serve it under another path.
  if (next !== undefined) reply.header('link', `<?${next}>; rel="next"`);
  if (etag !== undefined) {
    reply.header('etag', etag);
    if (READS.has(request.method) && isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
  }
  reply.code(status);
  if (body === null) return reply.send();
  if (body instanceof Readable) return reply.send(body);
  reply.header('content-type', JSON_TYPE).header('x-content-type-options', 'nosniff');
  const text = await encodeText(JSON.stringify(body));
  // The length of compressed secrets tells of them; and one tag for two forms would not be a strong one.
  if (etag !== undefined || isSecret || !isCompressible(text)) return reply.send(text);
  addVary(reply, 'Accept-Encoding');
  const compressed = await gzipFor(request.headers['accept-encoding'], text);
  return compressed ? reply.header('content-encoding', 'gzip').send(compressed) : reply.send(text);
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { JSON_TYPE } from '../http/errors.ts';
import type { Answer } from './endpoint.ts';
import { isKnown } from './request/preconditions.ts';

export type GivenAnswer = Answer & { status: number };

const READS = new Set(['GET', 'HEAD']);

export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: GivenAnswer): FastifyReply {
  const { status, headers, body, etag, next } = answer;
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
  return reply.header('content-type', JSON_TYPE).send(JSON.stringify(body));
}

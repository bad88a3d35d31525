import type { FastifyReply } from 'fastify';

/** Tells caches that the response depends on this request header, in addition to those named before. */
export function addVary(reply: FastifyReply, name: string): FastifyReply {
  const before = reply.getHeader('vary');
  return reply.header('vary', before === undefined ? name : `${String(before)}, ${name}`);
}

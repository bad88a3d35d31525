import type { FastifyReply } from 'fastify';

/** Tells caches that the answer depends on this header of the request, beside others that were told before. */
export function addVary(reply: FastifyReply, name: string): FastifyReply {
  const before = reply.getHeader('vary');
  return reply.header('vary', before === undefined ? name : `${String(before)}, ${name}`);
}

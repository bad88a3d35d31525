import type { FastifyReply, FastifyRequest } from 'fastify';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const EXPOSED = 'X-Request-Id, ETag, Link, Retry-After, WWW-Authenticate, Allow';
const PREFLIGHT_SECONDS = '600';

/** CORS headers for pages of the allowed origins only. Tokens travel in a header, so credentials are not allowed. */
export function createCors(origins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => void {
  const allowed = new Set(origins);
  return (request, reply) => {
    if (allowed.size === 0) return;
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return;
    reply.header('access-control-allow-methods', METHODS).header('access-control-max-age', PREFLIGHT_SECONDS);
    const headers = request.headers['access-control-request-headers'];
    if (headers !== undefined) reply.header('access-control-allow-headers', headers);
  };
}

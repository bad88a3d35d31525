import { isLoopbackHost } from '@taskmesh/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const EXPOSED = 'X-Request-Id, ETag, Link, Retry-After, WWW-Authenticate, Allow';
const PREFLIGHT_SECONDS = '600';

/**
 * CORS headers for pages of the allowed origins only; outside production, those of this machine are allowed, too (a front
 * end's development server). Tokens travel in a header, so credentials are not allowed.
 */
export function createCors({
  corsOrigins,
  production,
}: Pick<GatewayConfig, 'corsOrigins' | 'production'>): (request: FastifyRequest, reply: FastifyReply) => void {
  const named = new Set(corsOrigins);
  const isAllowed = (origin: string) => named.has(origin) || (!production && isLoopbackOrigin(origin));
  return (request, reply) => {
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !isAllowed(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return;
    reply.header('access-control-allow-methods', METHODS).header('access-control-max-age', PREFLIGHT_SECONDS);
    const headers = request.headers['access-control-request-headers'];
    if (headers !== undefined) reply.header('access-control-allow-headers', headers);
  };
}

function isLoopbackOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
  return host !== undefined && isLoopbackHost(host);
}

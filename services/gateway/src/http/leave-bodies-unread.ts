import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

/** What a client may still send of a body behind its response, and how long: enough for most to read the response. */
const MAX_REST_BYTES = 16 * 1024 * 1024;
const MAX_REST_MS = 5_000;
const LOOK_EVERY_MS = 50;

/**
 * Fastify leaves bodies alone: routes with a body read it after their own checks, others ignore it. Node discards what
 * has not been read when the response is sent, so that the connection can be used again; here only up to a limit.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', hideContentType);
  app.server.on('request', (request, response) => {
    if (hasBody(request)) response.once('finish', () => request.complete || limitRest(request));
  });
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function limitRest(request: IncomingMessage): void {
  const { socket } = request;
  const [endMs, maxBytesRead] = [performance.now() + MAX_REST_MS, socket.bytesRead + MAX_REST_BYTES];
  const timer = setInterval(() => {
    const isWithin = performance.now() < endMs && socket.bytesRead <= maxBytesRead;
    if (!request.complete && !socket.destroyed && isWithin) return;
    clearInterval(timer);
    if (!request.complete) socket.destroy();
  }, LOOK_EVERY_MS).unref();
}

/** Fastify would refuse a malformed content type with an error of its own, before any of our checks. */
function hideContentType({ raw }: FastifyRequest, _reply: unknown, done: () => void): void {
  if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined;
  done();
}

import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Fastify leaves bodies alone: routes with a body read it after their own checks, others ignore it. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', hideContentType);
}

/** Fastify would refuse a malformed content type with an error of its own, before any of our checks. */
function hideContentType({ raw }: FastifyRequest, _reply: unknown, done: () => void): void {
  if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined;
  done();
}

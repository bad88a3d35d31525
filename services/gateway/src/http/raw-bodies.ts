import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The framework touches no body: a route that has one reads it itself after its own checks, the others pass it over. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', hideContentType);
}

/** Fastify would refuse a type that is no type in words of its own, before any check of ours. */
function hideContentType({ raw }: FastifyRequest, _reply: unknown, done: () => void): void {
  if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined;
  done();
}

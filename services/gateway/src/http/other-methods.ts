import { AppError } from '@taskmesh/errors';
import type { FastifyInstance } from 'fastify';
import { sendError } from './errors.ts';

/** For a path that knows `methods` only: OPTIONS tells them, everything else is a 405 that tells them, too. */
export function addOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const known = [...methods, 'OPTIONS'];
  const allow = known.join(', ');
  app.route({ method: 'OPTIONS', url, handler: (_request, reply) => reply.code(204).header('allow', allow).send() });
  app.route({
    method: app.supportedMethods.filter((method) => !known.includes(method)),
    url,
    // Before the body is looked at: it does not matter here.
    onRequest: (request, reply) => {
      const message = `${request.method} is not possible here; possible are ${allow}.`;
      sendError(reply.header('allow', allow), new AppError('METHOD_NOT_ALLOWED', message));
    },
    handler: () => undefined,
  });
}

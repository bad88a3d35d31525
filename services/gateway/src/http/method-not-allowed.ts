import { AppError } from '@taskmesh/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { sendError, type Envelope } from './errors.ts';

/**
 * For a path that supports only `methods`: answers OPTIONS with the list, and any other method with a 405 and the list.
 * Neither needs a token.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  envelope: Envelope = 'plain',
): void {
  const known = [...methods, 'OPTIONS'];
  const allow = known.join(', ');
  // In `onRequest`, so that the body is never read.
  const add = (
    method: HTTPMethods | HTTPMethods[],
    onRequest: (request: FastifyRequest, reply: FastifyReply) => void,
  ) => app.route({ method, url, onRequest, handler: () => undefined });

  add('OPTIONS', (_request, reply) => {
    reply.code(204).header('allow', allow).send();
  });
  const others = app.supportedMethods.filter((method) => !known.includes(method));
  add(others, ({ method }, reply) => {
    const message = `${method} is not possible here; possible are ${allow}.`;
    sendError(reply.header('allow', allow), new AppError('METHOD_NOT_ALLOWED', message), envelope);
  });
}

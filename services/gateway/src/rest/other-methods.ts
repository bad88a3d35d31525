import { AppError } from '@taskmesh/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendError, type Envelope } from './envelopes.ts';

export interface KnownPath {
  /** As Fastify writes it. */
  url: string;
  /** What the path does know, OPTIONS included. */
  methods: readonly string[];
  envelope: Envelope;
}

/** What a path does not know is a 405 that says what it knows; OPTIONS says it, too. No token is asked for. */
export function addOtherMethods(scope: FastifyInstance, { url, methods, envelope }: KnownPath): void {
  const allow = methods.join(', ');
  scope.route({
    method: 'OPTIONS',
    url,
    onRequest: hideContentType,
    handler: (_request, reply) => reply.code(204).header('allow', allow).send(),
  });
  scope.route({
    method: scope.supportedMethods.filter((method) => !methods.includes(method)),
    url,
    onRequest: hideContentType,
    handler: (request, reply) => {
      const message = `${request.method} is not possible here; possible are ${allow}.`;
      return sendError(reply.header('allow', allow), envelope, new AppError('METHOD_NOT_ALLOWED', message));
    },
  });
}

/** Fastify would refuse a type that is no type before the token is looked at, and also where no body is read. */
export function hideContentType({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined;
  done();
}

import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../../http/errors.ts';
import { refuseOtherMethods } from '../../http/method-not-allowed.ts';
import type { OpenApiDocument } from './types.ts';

const READ = ['GET', 'HEAD'];

/** Serialised once and served as it is. */
export function serveDescription(app: FastifyInstance, document: OpenApiDocument): void {
  const url = '/api/openapi.json';
  const text = JSON.stringify(document);
  app.route({
    method: READ,
    url,
    handler: (_request, reply) =>
      reply.header('content-type', JSON_TYPE).header('x-content-type-options', 'nosniff').send(text),
  });
  refuseOtherMethods(app, url, READ);
}

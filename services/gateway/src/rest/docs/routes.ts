import type { FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import { JSON_TYPE } from '../../http/errors.ts';
import type { OpenApiDocument } from '../openapi/types.ts';
import { addOtherMethods } from '../other-methods.ts';
import { renderDocs } from './page.ts';
import { STYLE } from './style.ts';

/** The API description for machines and for people: made once, served as it is. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const json = JSON.stringify(document);
  const page = renderDocs(document);
  const styleHash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.route({
      method: ['GET', 'HEAD'],
      url: '/api/openapi.json',
      handler: (_request, reply) => reply.header('content-type', JSON_TYPE).send(json),
    });
    scope.route({
      method: ['GET', 'HEAD'],
      url: '/api/docs',
      handler: (_request, reply) =>
        reply
          .header('content-type', 'text/html; charset=utf-8')
          .header('content-security-policy', policy)
          .header('x-content-type-options', 'nosniff')
          .send(page),
    });
    for (const url of ['/api/openapi.json', '/api/docs'])
      addOtherMethods(scope, { url, methods: ['GET', 'HEAD', 'OPTIONS'], envelope: 'plain' });
  });
}

import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../../http/errors.ts';
import { addOtherMethods } from '../../http/other-methods.ts';
import type { OpenApiDocument } from '../openapi/types.ts';
import { renderDocs, STYLE_PATH } from './page.ts';
import { STYLE } from './style.ts';

const READ = ['GET', 'HEAD'];

/** No script runs on the page, and nothing comes from elsewhere. */
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The API description for machines and for people: made once, served as it is. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const texts = [
    { url: '/api/openapi.json', type: JSON_TYPE, text: JSON.stringify(document) },
    { url: '/api/docs', type: 'text/html; charset=utf-8', text: renderDocs(document) },
    { url: STYLE_PATH, type: 'text/css; charset=utf-8', text: STYLE },
  ];
  for (const { url, type, text } of texts) {
    app.route({
      method: READ,
      url,
      handler: (_request, reply) =>
        reply
          .header('content-type', type)
          .header('content-security-policy', POLICY)
          .header('x-content-type-options', 'nosniff')
          .send(text),
    });
    addOtherMethods(app, url, READ);
  }
}

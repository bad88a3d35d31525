import type { FastifyInstance } from 'fastify';
import { packageFile, servePage } from '../page.ts';

/** Swagger UI for `/api/openapi.json`. */
export function serveApiReference(app: FastifyInstance): void {
  servePage(app, {
    url: '/api/docs',
    html: new URL('./api-reference.html', import.meta.url),
    files: {
      'swagger-ui.css': packageFile('swagger-ui-dist', 'swagger-ui.css'),
      'swagger-ui.js': packageFile('swagger-ui-dist', 'swagger-ui-bundle.js'),
      'api-reference.css': new URL('./api-reference.css', import.meta.url),
      'api-reference.js': new URL('./api-reference.browser.js', import.meta.url),
    },
    policy: { 'img-src': 'data:' }, // for images in its style sheet
  });
}

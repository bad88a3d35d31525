import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { packageFile, servePageFiles, wantsPage } from '../page.ts';

/** Serves GraphiQL's files. Returns how to send its page, which shares the graph's URL. */
export function serveExplorer(app: FastifyInstance): (reply: FastifyReply) => FastifyReply {
  return servePageFiles(app, {
    url: '/graphql',
    html: new URL('./explorer.html', import.meta.url),
    files: {
      'react.js': packageFile('react', 'umd/react.production.min.js'),
      'react-dom.js': packageFile('react-dom', 'umd/react-dom.production.min.js'),
      'graphiql.js': packageFile('graphiql', 'graphiql.min.js'),
      'graphiql.css': packageFile('graphiql', 'graphiql.min.css'),
      'explorer.js': new URL('./explorer.browser.js', import.meta.url),
      'explorer.css': new URL('./explorer.css', import.meta.url),
    },
    // Its dialogs add a style element; its style sheet embeds fonts and images.
    policy: { 'style-src': "'self' 'unsafe-inline'", 'font-src': 'data:', 'img-src': 'data:' },
  });
}

/** True when a browser opens the URL without a query. */
export function wantsExplorer(request: FastifyRequest): boolean {
  if (request.method === 'POST' || /[?&](query|extensions|documentId)=/.test(request.raw.url ?? '')) return false;
  return wantsPage(request);
}

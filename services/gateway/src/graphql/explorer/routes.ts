import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { addOtherMethods } from '../../http/other-methods.ts';
import { loadAssets, type Asset } from './assets.ts';

const READ = ['GET', 'HEAD'];
const YEAR = 'public, max-age=31536000, immutable';

/** Scripts run from here only. GraphiQL's dialogs add a style element; fonts and pictures stand in its style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'font-src data:',
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** GraphiQL, with all that it loads. Returns what shows its page, at the address that the graph has. */
export function explorerRoutes(app: FastifyInstance): (reply: FastifyReply) => FastifyReply {
  const assets = loadAssets();
  for (const { url, route, type, bytes } of assets) {
    app.route({
      method: READ,
      url: route, // which metrics name: those of one content would come and go with it
      handler: (request, reply) => {
        if (request.url.split('?')[0] !== url) return reply.callNotFound();
        return reply
          .header('content-type', `${type}; charset=utf-8`)
          .header('cache-control', YEAR)
          .header('x-content-type-options', 'nosniff')
          .send(bytes);
      },
    });
    addOtherMethods(app, route, READ);
  }
  const page = pageWith(assets);
  return (reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(page);
}

/** Somebody opens the address in a browser, without a query. */
export function wantsPage({ method, raw, headers }: FastifyRequest): boolean {
  if (method === 'POST' || /[?&](query|extensions|documentId)=/.test(raw.url ?? '')) return false;
  return headers.accept?.includes('text/html') ?? false;
}

function pageWith(assets: readonly Asset[]): string {
  const html = readFileSync(new URL('./explorer.html', import.meta.url), 'utf8');
  return assets.reduce((page, { name, url }) => page.replace(`{${name}}`, url), html);
}

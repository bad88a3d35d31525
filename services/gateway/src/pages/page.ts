import type { FastifyInstance, FastifyReply } from 'fastify';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { addOtherMethods } from '../http/other-methods.ts';

/** A page for people and its files: nothing is loaded from other hosts. */
export interface Page {
  /** Files are served below `<url>/assets`. */
  url: string;
  /** Names a file as `{name}` where it loads one. */
  html: URL;
  files: Record<string, string | URL>;
  /** Additions to `POLICY`. */
  policy?: Record<string, string>;
}

const READ = ['GET', 'HEAD'];
const YEAR = 'public, max-age=31536000, immutable';

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

const { resolve } = createRequire(import.meta.url);

/** A prebuilt file of an npm package. */
export const packageFile = (name: string, file: string) => join(dirname(resolve(`${name}/package.json`)), file);

/** Serves a page's files under URLs that change with their content. Returns how to send the page itself. */
export function servePageFiles(app: FastifyInstance, page: Page): (reply: FastifyReply) => FastifyReply {
  let html = readFileSync(page.html, 'utf8');
  for (const [name, file] of Object.entries(page.files)) {
    const bytes = readFileSync(file);
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
    html = html.replace(`{${name}}`, `${page.url}/assets/${hash}/${name}`);
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    const route = `${page.url}/assets/:hash/${name}`; // metrics name routes: one for each content would pile up
    app.route<{ Params: { hash: string } }>({
      method: READ,
      url: route,
      handler: (request, reply) => {
        if (request.params.hash !== hash) return reply.callNotFound();
        return reply
          .header('content-type', `${type}; charset=utf-8`)
          .header('cache-control', YEAR)
          .header('x-content-type-options', 'nosniff')
          .send(bytes);
      },
    });
    addOtherMethods(app, route, READ);
  }
  const policy = Object.entries({ ...POLICY, ...page.policy })
    .map((directive) => directive.join(' '))
    .join('; ');
  return (reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(html);
}

export function servePage(app: FastifyInstance, page: Page): void {
  const send = servePageFiles(app, page);
  app.route({ method: READ, url: page.url, handler: (_request, reply) => send(reply) });
  addOtherMethods(app, page.url, READ);
}

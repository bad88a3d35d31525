import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { addOtherMethods } from './other-methods.ts';

const READ = ['GET', 'HEAD'];

/** The page runs its own script and speaks to this origin; nothing else can reach or frame it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const asset = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const ASSETS = [
  { url: '/reset-password', type: 'text/html', text: asset('./reset-password.html') },
  { url: '/reset-password/style.css', type: 'text/css', text: asset('./reset-password.css') },
  { url: '/reset-password/script.js', type: 'text/javascript', text: asset('./reset-password.browser.js') },
];

/** The page behind the link of a recovery mail: asks for a new password and hands it over with the mail's token. */
export function resetPasswordRoutes(app: FastifyInstance): void {
  for (const { url, type, text } of ASSETS) {
    app.route({
      method: READ,
      url,
      handler: (_request, reply) =>
        reply
          .header('content-type', `${type}; charset=utf-8`)
          .header('content-security-policy', POLICY)
          .header('x-content-type-options', 'nosniff')
          .header('referrer-policy', 'no-referrer')
          .header('cache-control', 'no-cache')
          .send(text),
    });
    addOtherMethods(app, url, READ);
  }
}

import type { FastifyInstance } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseUnknownPath } from '../../http/errors.ts';
import { refuseOtherMethods } from '../../http/method-not-allowed.ts';
import { addVary } from '../../http/vary.ts';
import { servePageFiles, wantsPage } from '../page.ts';

/** Where `services/gateway/console/build` writes builds, and names the current one. */
const BUILDS = join(import.meta.dirname, '../../../../../.cache/console');

/** A build of the page that people use. */
export interface Console {
  folder: string;
  /** The GraphQL operations of its client. */
  documents: string[];
}

/** Undefined when it was never built. */
export function findConsole(): Console | undefined {
  const current = join(BUILDS, 'current');
  if (!existsSync(current)) return undefined;
  const folder = join(BUILDS, readFileSync(current, 'utf8'));
  const documents = JSON.parse(readFileSync(join(folder, 'documents.json'), 'utf8')) as string[]; // as the build writes it
  return { folder, documents };
}

/** The console, for browsers. Programs find nothing at this address. */
export function serveConsole(app: FastifyInstance, { folder }: Console): void {
  const send = servePageFiles(app, {
    url: '/',
    html: join(folder, 'console.html'),
    files: {
      'console.js': join(folder, 'console.js'),
      'style.css': join(folder, 'style.css'),
      'icon.svg': join(folder, 'icon.svg'),
    },
    policy: { 'img-src': "'self'" }, // its icon
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      addVary(reply, 'Accept');
      return wantsPage(request) ? send(reply) : refuseUnknownPath(reply);
    },
  });
  // Password managers look for it here (https://www.w3.org/TR/change-password-url/).
  app.route({
    method: ['GET', 'HEAD'],
    url: '/.well-known/change-password',
    handler: (_request, reply) => reply.redirect('/#/account', 303),
  });
  refuseOtherMethods(app, '/.well-known/change-password', ['GET', 'HEAD']);
}

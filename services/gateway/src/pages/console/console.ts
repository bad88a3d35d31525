import type { Log } from '@taskmesh/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addVary } from '../../http/vary.ts';
import { servePageFiles } from '../page.ts';

/** Where `services/gateway/console/build` writes builds, and names the current one. */
const BUILDS = join(import.meta.dirname, '../../../../../.cache/console');

/** The console, for browsers. Programs find nothing at this address. */
export function serveConsole(app: FastifyInstance, log: Log): void {
  const current = join(BUILDS, 'current');
  if (!existsSync(current)) return log.warn('there is no build of the console: browsers find nothing at /');
  const build = join(BUILDS, readFileSync(current, 'utf8'));
  const send = servePageFiles(app, {
    url: '/',
    html: join(build, 'console.html'),
    files: {
      'console.js': join(build, 'console.js'),
      'style.css': join(build, 'style.css'),
      'icon.svg': join(build, 'icon.svg'),
    },
    policy: { 'img-src': "'self'" }, // its icon
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      addVary(reply, 'Accept');
      return wantsPage(request) ? send(reply) : reply.callNotFound();
    },
  });
}

function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseUnknownPath, type AnswerUnknownPath } from '../../http/errors.ts';
import { addVary } from '../../http/vary.ts';
import { LOOK } from '../look/look.ts';
import { servePageFiles, wantsPage } from '../page.ts';

const READ = new Set(['GET', 'HEAD']);
/** Programs get JSON there in any case: some accept HTML without wanting it. */
const API = /^\/(?:(?:full|reduced)\/)?api(?:[/?]|$)/;

/** Somebody who opens an address where nothing is gets a page, and every program JSON. */
export function serveUnknownPath(app: FastifyInstance): AnswerUnknownPath {
  const send = servePageFiles(app, {
    url: '/unknown-path',
    html: new URL('./unknown-path.html', import.meta.url),
    ...LOOK,
  });
  return (request, reply) => {
    if (!READ.has(request.method) || API.test(request.url)) return refuseUnknownPath(reply);
    for (const name of ['Accept', 'Sec-Fetch-Mode', 'Upgrade-Insecure-Requests']) addVary(reply, name);
    return wantsPage(request) && isNavigation(request) ? send(reply.code(404)) : refuseUnknownPath(reply);
  };
}

/** Browsers say so when somebody opens an address: the first to hosts that they trust (TLS, this machine), the other to all. */
function isNavigation({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-mode'] === 'navigate' || headers['upgrade-insecure-requests'] === '1';
}

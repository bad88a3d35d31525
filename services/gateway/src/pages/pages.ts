import type { AppError } from '@taskmesh/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addVary } from '../http/negotiation.ts';
import { type HandleUnknownPath, sendUnknownPath, serveReadOnly } from '../http/replies.ts';
import { packageFile, servePage, servePageFiles, wantsPage } from './page.ts';

/** Where `services/gateway/console/build` writes builds, and names the current one. */
const BUILDS = join(import.meta.dirname, '../../../../.cache/console');

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

/** The console, for browsers. Programs get a 404 at this address. */
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
      return wantsPage(request) ? send(reply) : sendUnknownPath(reply);
    },
  });
  // Password managers look for the form here (https://www.w3.org/TR/change-password-url/).
  serveReadOnly(app, '/.well-known/change-password', (_request, reply) => reply.redirect('/#/account', 303));
}

/** Serves GraphiQL's files. Returns a function that sends its page, which shares the graph's URL. */
export function serveExplorer(app: FastifyInstance): (reply: FastifyReply) => FastifyReply {
  return servePageFiles(app, {
    url: '/graphql',
    html: new URL('./explorer/explorer.html', import.meta.url),
    files: {
      'react.js': packageFile('react', 'umd/react.production.min.js'),
      'react-dom.js': packageFile('react-dom', 'umd/react-dom.production.min.js'),
      'graphiql.js': packageFile('graphiql', 'graphiql.min.js'),
      'graphiql.css': packageFile('graphiql', 'graphiql.min.css'),
      'explorer.js': new URL('./explorer/explorer.browser.js', import.meta.url),
      'explorer.css': new URL('./explorer/explorer.css', import.meta.url),
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

/** Swagger UI for `/api/openapi.json`. */
export function serveApiReference(app: FastifyInstance): void {
  servePage(app, {
    url: '/api/docs',
    html: new URL('./api-reference/api-reference.html', import.meta.url),
    files: {
      'swagger-ui.css': packageFile('swagger-ui-dist', 'swagger-ui.css'),
      'swagger-ui.js': packageFile('swagger-ui-dist', 'swagger-ui-bundle.js'),
      'api-reference.css': new URL('./api-reference/api-reference.css', import.meta.url),
      'api-reference.js': new URL('./api-reference/api-reference.browser.js', import.meta.url),
    },
    policy: { 'img-src': 'data:' }, // for images in its style sheet
  });
}

/**
 * The pages that mails link to with a token. They submit the token with a password: the new one in a recovery, or the
 * account's own to confirm a new address.
 */
export function serveTokenForms(app: FastifyInstance): void {
  for (const name of ['reset-password', 'confirm-email'])
    servePage(app, {
      url: `/${name}`,
      html: new URL(`./token-form/${name}.html`, import.meta.url),
      ...STYLE,
      files: { ...STYLE.files, 'token-form.js': new URL('./token-form/token-form.browser.js', import.meta.url) },
    });
}

/** The error page for browsers on their way to the sign-in provider, or back. Returns a function that sends it. */
export function serveFailedSignIn(app: FastifyInstance): (reply: FastifyReply, error: AppError) => FastifyReply {
  const send = servePageFiles(app, {
    url: '/failed-sign-in',
    html: new URL('./failed-sign-in/failed-sign-in.html', import.meta.url),
    ...STYLE,
  });
  return (reply, error) => send(reply, { reason: reasonFor(error, reply.request.id) });
}

function reasonFor({ code, httpStatus, message, retryAfterSeconds = 1 }: AppError, requestId: string): string {
  if (code === 'RATE_LIMITED')
    return `That was tried too often. Wait ${formatWait(retryAfterSeconds)}, then start again.`;
  return httpStatus >= 500 ? `${message} If that does not help, ask about request ${requestId}.` : message;
}

function formatWait(seconds: number): string {
  return seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

const READ = new Set(['GET', 'HEAD']);
/** These paths always respond with JSON: some programs accept HTML without wanting it. */
const API = /^\/(?:(?:full|reduced)\/)?api(?:[/?]|$)/;

/** People who open an unknown path in a browser get a page; programs get JSON. */
export function serveUnknownPath(app: FastifyInstance): HandleUnknownPath {
  const send = servePageFiles(app, {
    url: '/unknown-path',
    html: new URL('./unknown-path/unknown-path.html', import.meta.url),
    ...STYLE,
  });
  return (request, reply) => {
    if (!READ.has(request.method) || API.test(request.url)) return sendUnknownPath(reply);
    for (const name of ['Accept', 'Sec-Fetch-Mode', 'Upgrade-Insecure-Requests']) addVary(reply, name);
    return wantsPage(request) && isNavigation(request) ? send(reply.code(404)) : sendUnknownPath(reply);
  };
}

/** Browsers send these headers when a person opens an address: the first to trusted hosts (TLS, this machine), the other to all. */
function isNavigation({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-mode'] === 'navigate' || headers['upgrade-insecure-requests'] === '1';
}

/** The style of the gateway's own pages. The console has the same style sheets in its bundle. */
export const STYLE = {
  files: {
    'look.css': ['theme', 'base', 'controls', 'entrance'].map((name) => new URL(`./look/${name}.css`, import.meta.url)),
  },
  pieces: { brand: new URL('./look/brand.html', import.meta.url) },
};

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addVary, prefers } from '../http/negotiation.ts';
import { serveReadOnly } from '../http/replies.ts';
import { excludeFromUnread } from '../http/unread-responses.ts';

/** A page for people and its files: nothing is loaded from other hosts. */
export interface Page {
  /** Files are served below `<url>/assets`. */
  url: string;
  /** Refers to files and to the texts of `SendPage` as `{name}`. */
  html: string | URL;
  /** Compressed versions of a file are next to it, with `.br` or `.gz` appended. Several files are served as one. */
  files: Record<string, string | URL | URL[]>;
  /** HTML that pages share, by the name of its placeholder `{name}`. */
  pieces?: Record<string, URL>;
  /** Additions to `POLICY`. */
  policy?: Record<string, string>;
}

/** `texts` fill the placeholders of the page, by name; they are escaped. */
export type SendPage = (reply: FastifyReply, texts?: Record<string, string>) => FastifyReply;

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

const TYPES = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

/** A prebuilt file of an npm package. */
export const packageFile = (name: string, file: string) => join(dirname(resolve(`${name}/package.json`)), file);

/** Serves a page's files under URLs that change with their content. Returns a function that sends the page itself. */
export function servePageFiles(app: FastifyInstance, page: Page): SendPage {
  let html = readFileSync(page.html, 'utf8');
  for (const [name, file] of Object.entries(page.pieces ?? {}))
    html = html.replaceAll(`{${name}}`, readFileSync(file, 'utf8').trim());
  const base = page.url.replace(/\/$/, '');
  for (const [name, file] of Object.entries(page.files)) {
    const asset = readAsset(file);
    const hash = createHash('sha256').update(asset.bytes).digest('base64url').slice(0, 16);
    html = html.replaceAll(`{${name}}`, `${base}/assets/${hash}/${name}`);
    const type = TYPES.get(extname(name)) ?? 'application/octet-stream';
    const route = `${base}/assets/:hash/${name}`; // metrics have a series per route, so routes must not contain hashes
    serveReadOnly(app, route, (request, reply) => {
      // During a rollout, a page of one gateway may request its files from another: mixed versions are better than no page.
      const isOwn = (request.params as { hash: string }).hash === hash;
      reply.header('content-type', type).header('cache-control', isOwn ? YEAR : 'no-store');
      reply.header('x-content-type-options', 'nosniff');
      return sendAsset(reply, asset, request.headers['accept-encoding']);
    });
  }
  const policy = Object.entries({ ...POLICY, ...page.policy })
    .map((directive) => directive.join(' '))
    .join('; ');
  return (reply, texts = {}) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', reply.getHeader('cache-control') ?? 'no-cache')
      .send(Object.entries(texts).reduce(fillIn, html));
}

const fillIn = (html: string, [name, text]: [string, string]) => html.replaceAll(`{${name}}`, () => escapeHtml(text));
const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Whether the request comes from a person's browser. Programs do not accept HTML by name, or prefer JSON. */
export function wantsPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return prefers(headers.accept, 'text/html');
}

export function servePage(app: FastifyInstance, page: Page): void {
  const send = servePageFiles(app, page);
  serveReadOnly(app, page.url, (_request, reply) => send(reply));
}

/** By the name of the coding, best first. */
const ENDINGS = { br: '.br', gzip: '.gz' };

export interface Asset {
  bytes: Buffer;
  /** The same content, from the compressed files next to it. */
  compressed: { coding: string; bytes: Buffer }[];
}

/** Concatenates several files. */
function readAsset(file: string | URL | URL[]): Asset {
  if (Array.isArray(file)) return { bytes: Buffer.concat(file.map((each) => readFileSync(each))), compressed: [] };
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  const compressed = Object.entries(ENDINGS)
    .filter(([, ending]) => existsSync(path + ending))
    .map(([coding, ending]) => ({ coding, bytes: readFileSync(path + ending) }));
  return { bytes: readFileSync(path), compressed };
}

/** Sends it in the best coding that the client accepts (RFC 9110, 12.5.3). */
function sendAsset(
  reply: FastifyReply,
  { bytes, compressed }: Asset,
  accepted: string | string[] | undefined,
): FastifyReply {
  excludeFromUnread(reply.raw);
  if (compressed.length === 0) return reply.send(bytes);
  addVary(reply, 'Accept-Encoding');
  const taken = new Negotiator({ headers: { 'accept-encoding': String(accepted ?? '') } }).encodings(
    compressed.map(({ coding }) => coding),
  );
  const best = compressed.find(({ coding }) => taken.includes(coding));
  return best ? reply.header('content-encoding', best.coding).send(best.bytes) : reply.send(bytes);
}

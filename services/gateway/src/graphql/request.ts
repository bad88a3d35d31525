import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import { badUserInput } from '@taskmesh/errors';
import type { FastifyRequest } from 'fastify';
import { refusal } from '../graph/client-errors.ts';
import { readJsonBytes } from '../http/json-bytes.ts';
import { parseJsonObject } from '../http/json-object.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** Set by clients of ours, never by a foreign page: a browser would ask first, and be refused. */
const PREFLIGHT_HEADERS = ['apollo-require-preflight', 'x-apollo-operation-name'];

/** A GraphQL request as Apollo Server takes it; its headers are the few that decide something. */
export async function readGraphQLRequest(
  request: FastifyRequest,
  trusted: TrustedDocuments,
): Promise<HTTPGraphQLRequest> {
  const headers = new HeaderMap();
  const { accept } = request.headers;
  if (accept !== undefined) headers.set('accept', accept);
  if (request.method === 'POST') {
    headers.set('content-type', 'application/json');
    const body = withTrusted(parseJsonObject(await readJsonBytes(request.raw)), trusted);
    return { method: 'POST', headers, search: '', body };
  }
  refuseForeignPage(request);
  return { method: 'GET', headers, search: trustedSearch(searchOf(request.raw.url ?? ''), trusted), body: undefined };
}

/** A page of another origin must not make a browser run queries with what the browser knows. */
function refuseForeignPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isForeign = headers.origin !== undefined || (site !== undefined && site !== 'none' && site !== 'same-origin');
  if (!isForeign || PREFLIGHT_HEADERS.some((name) => headers[name])) return;
  throw badUserInput([], 'A query by GET from another page needs the header apollo-require-preflight.');
}

/** Replaces a trusted document's hash by the document, in both customary forms. @throws GraphQLError, AppError */
function withTrusted(body: object, trusted: TrustedDocuments): object {
  const { documentId, extensions, ...rest } = body as { query?: unknown; documentId?: unknown; extensions?: unknown };
  const { query } = rest;
  const hash = documentId ?? persistedHash(extensions);
  const document = typeof hash === 'string' ? trusted.byHash(hash) : undefined;
  if (document !== undefined) return { ...rest, query: document };
  if (typeof documentId === 'string' && query === undefined)
    throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', 400);
  if (typeof query === 'string') trusted.check(query);
  return body;
}

function trustedSearch(search: string, trusted: TrustedDocuments): string {
  const params = new URLSearchParams(search);
  const query = params.get('query');
  const body = {
    query: query ?? undefined,
    documentId: params.get('documentId') ?? undefined,
    extensions: parsedExtensions(params.get('extensions')),
  };
  const { query: document } = withTrusted(body, trusted) as { query?: string };
  if (document === undefined || document === query) return search;
  params.set('query', document);
  params.delete('extensions');
  params.delete('documentId');
  return params.toString();
}

function parsedExtensions(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Apollo Server tells what is wrong with them
  }
}

function persistedHash(extensions: unknown): unknown {
  if (typeof extensions !== 'object' || extensions === null) return undefined;
  const { persistedQuery } = extensions as { persistedQuery?: { sha256Hash?: unknown } | null };
  return persistedQuery?.sha256Hash;
}

function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

import { badUserInput } from '@taskmesh/contracts';
import { parseExactJson } from '@taskmesh/federation';
import type { IncomingMessage } from 'node:http';
import { readJsonBytes } from '../http/json-bytes.ts';
import { parseJsonObject } from '../http/json-object.ts';
import { readParameters } from '../http/query-parameters.ts';
import type { UncheckedRequest } from './graphql-request.ts';

/** Set by our clients, but impossible for foreign pages: the browser would send a preflight, which is refused. */
const PREFLIGHT_HEADERS = ['apollo-require-preflight', 'x-apollo-operation-name'];
const PARAMETERS = new Set(['query', 'operationName', 'documentId', 'variables', 'extensions']);

/** What an HTTP request of the client with this address asks for: its body, or its search parameters. @throws AppError */
export async function readRequest(request: IncomingMessage, ip: string): Promise<UncheckedRequest> {
  if (request.method === 'POST') return parseJsonObject(await readJsonBytes(request, ip), parseExactJson);
  refuseForeignPage(request);
  return readSearch(readParameters(request.url ?? '', PARAMETERS));
}

/** A page of another origin must not make a browser run queries with what the browser knows. */
function refuseForeignPage({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const isForeign = headers.origin !== undefined || (site !== undefined && site !== 'none' && site !== 'same-origin');
  if (!isForeign || PREFLIGHT_HEADERS.some((name) => headers[name])) return;
  const message = 'A query by GET from another page needs the header apollo-require-preflight.';
  throw badUserInput([{ path: '', message }]);
}

function readSearch({ variables, extensions, ...texts }: Record<string, string>): UncheckedRequest {
  return {
    ...texts,
    variables: parseParameter('variables', variables),
    extensions: parseParameter('extensions', extensions),
  };
}

function parseParameter(name: string, text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseExactJson(text);
  } catch {
    throw badUserInput([{ path: name, message: `${name} must be JSON.` }]); // the parser's own message would repeat parts of it
  }
}

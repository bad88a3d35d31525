import { unauthenticated } from '@taskmesh/errors';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { parseInput } from '@taskmesh/validation';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE, sendError, toAppError, type Envelope } from '../http/errors.ts';
import { readJsonBytes } from '../http/json-bytes.ts';
import { parseJsonObject } from '../http/json-object.ts';
import { addOtherMethods } from '../http/other-methods.ts';
import { authorizationOf, type GatewayContext } from '../context.ts';
import type { Answer, Endpoint, Exchange } from './endpoint.ts';
import { errorOf } from './errors.ts';
import type { PreparedOperations, StoredOperation } from './operations.ts';
import { isKnown } from './request/preconditions.ts';

/** What REST works with. */
export type RestContext = Pick<GatewayContext, 'config' | 'log' | 'executor' | 'authenticate' | 'requestCall'>;

export interface Mount {
  prefix: string;
  envelope: Envelope;
  endpoints: readonly Endpoint[];
}

/** Serves endpoints below a prefix, with 405 and OPTIONS for every path of theirs. */
export function serve(app: FastifyInstance, parts: RestContext, operations: PreparedOperations, mount: Mount): void {
  const { prefix, envelope, endpoints } = mount;
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const known = toAppError(error);
      if (known !== error && known.httpStatus === 500)
        parts.log.error({ err: error, requestId: request.id }, 'request failed');
      return sendError(reply, known, envelope);
    });
    for (const endpoint of endpoints) addEndpoint(scope, parts, operations, { prefix, endpoint });
    for (const [path, methods] of methodsByPath(endpoints)) {
      addOtherMethods(scope, urlOf(prefix, path), methods, envelope);
    }
  });
}

function addEndpoint(
  scope: FastifyInstance,
  parts: RestContext,
  operations: PreparedOperations,
  { prefix, endpoint }: { prefix: string; endpoint: Endpoint },
): void {
  const answer = answerer(parts, operations, endpoint);
  scope.route({
    method: endpoint.method === 'GET' ? ['GET', 'HEAD'] : endpoint.method,
    url: urlOf(prefix, endpoint.path),
    handler: async (request, reply) => send(request, reply, { status: endpoint.status, ...(await answer(request)) }),
  });
}

/** One exchange behind route and method, in the order of the checks: token, body or query, then the endpoint itself. */
function answerer(parts: RestContext, operations: PreparedOperations, endpoint: Endpoint) {
  const { bodySchema } = endpoint;

  const exchangeOf = async (request: FastifyRequest, identity: Identity) => {
    const body = bodySchema && parseInput(bodySchema, parseJsonObject(await readJsonBytes(request.raw)));
    const query = endpoint.query?.read(request);
    const run = runner(parts, operations, { request, identity });
    return { body, query, id: idIn(request.params), headers: request.headers, run };
  };

  if (endpoint.access === 'public')
    return async (request: FastifyRequest) => endpoint.handle(await exchangeOf(request, ANONYMOUS));

  return async (request: FastifyRequest) => {
    const caller = await parts.authenticate(authorizationOf(request.raw));
    if (caller.kind !== 'user') throw unauthenticated();
    const exchange = await exchangeOf(request, caller.identity);
    return endpoint.handle({ ...exchange, claims: caller.claims });
  };
}

const READS = new Set(['GET', 'HEAD']);

const urlOf = (prefix: string, path: string) => `${prefix}${path.replace('{id}', ':id')}`;

function idIn(params: unknown): string {
  const { id } = params as { id?: unknown }; // Fastify's parameters are always an object
  return typeof id === 'string' ? id : '';
}

function runner(
  parts: RestContext,
  operations: PreparedOperations,
  { request, identity }: { request: FastifyRequest; identity: Identity },
): Exchange<unknown, unknown>['run'] {
  return async <Variables extends object, Result>(stored: StoredOperation<Variables, Result>, variables: Variables) => {
    const operation = operations.get(stored);
    if (!operation) throw new Error('an endpoint ran an operation that it does not need');
    const call = parts.requestCall(request, identity);
    const { data, errors } = await parts.executor.run(operation, variables as Record<string, unknown>, call);
    if (errors?.[0]) throw errorOf(errors[0]);
    return data as Result; // the document was validated against the schema, and the type says what it selects
  };
}

function send(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { status, body, etag, next }: Answer & { status: number },
): FastifyReply {
  // Relative to where the list was asked for: proxies may show it elsewhere.
  if (next !== undefined) reply.header('link', `<?${next}>; rel="next"`);
  if (etag !== undefined) {
    reply.header('etag', etag);
    if (READS.has(method) && isKnown(etag, headers['if-none-match'])) return reply.code(304).send();
  }
  return reply.code(status).header('content-type', JSON_TYPE).send(JSON.stringify(body));
}

function methodsByPath(endpoints: readonly Endpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of endpoints) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...(method === 'GET' ? ['GET', 'HEAD'] : [method]), ...known]);
  }
  return methods;
}

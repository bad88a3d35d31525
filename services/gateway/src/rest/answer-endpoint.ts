import { unauthenticated, parseInput } from '@taskmesh/contracts';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import type { RequestOrigin, OnWorkProgress } from '@taskmesh/internal-api';
import type { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { callerOf, type GatewayContext } from '../context.ts';
import { readJsonBytes } from '../http/json-bytes.ts';
import { parseJsonObject } from '../http/json-object.ts';
import { longBodyOf } from '../http/streamed-bodies.ts';
import { isBytes, type Answer, type Endpoint, type Exchange } from './endpoint.ts';
import { errorOf } from './errors.ts';
import type { PreparedOperations, StoredOperation } from './operations.ts';
import { requireOperator, requireOperatorsPlace } from './request/require-operator.ts';

export type EndpointContext = Pick<
  GatewayContext,
  'executor' | 'authenticate' | 'clientIp' | 'operators' | 'requestCall'
>;

export type AnswerEndpoint = (request: FastifyRequest, onProgress?: OnWorkProgress) => Promise<Answer>;

const OPERATOR: Identity = { role: 'operator' };

/** Handles one request after routing. Checks in this order: the caller, the query or body, then the endpoint's own. */
export function createAnswerEndpoint(
  context: EndpointContext,
  operations: PreparedOperations,
  endpoint: Endpoint,
): AnswerEndpoint {
  const { bodySchema } = endpoint;
  const handled = bodySchema && isBytes(bodySchema) ? handleStream : handle;
  const exchangeOf = async (request: FastifyRequest, identity: Identity, onProgress: OnWorkProgress | undefined) => ({
    query: endpoint.query?.read(request),
    body: bodySchema && (await bodyOf(request, bodySchema, context)),
    id: idIn(request.params),
    raw: request.raw,
    origin: () => originOf(context, request),
    isHead: request.method === 'HEAD',
    onProgress,
    run: runner(context, operations, { request, identity }),
  });

  if (endpoint.access === 'user')
    return async (request, onProgress) => {
      const caller = await callerOf(context, request.raw);
      if (caller.kind !== 'user') throw unauthenticated();
      const { identity, claims } = caller;
      return handled(await exchangeOf(request, identity, onProgress), (exchange) =>
        endpoint.handle({ ...exchange, claims }),
      );
    };

  if (endpoint.access === 'optional')
    return async (request, onProgress) => {
      const caller = await callerOf(context, request.raw);
      // As in GraphQL, an invalid token counts as none.
      const identity = caller.kind === 'user' ? caller.identity : ANONYMOUS;
      return handled(await exchangeOf(request, identity, onProgress), (exchange) => endpoint.handle(exchange));
    };

  const { access } = endpoint;
  const identity = access === 'operator' ? OPERATOR : ANONYMOUS;
  return async (request, onProgress) => {
    if (access === 'operator') await requireOperator(context, request);
    if (access === 'operators-place') requireOperatorsPlace(context, request);
    return handled(await exchangeOf(request, identity, onProgress), (exchange) => endpoint.handle(exchange));
  };
}

type AnyExchange = Exchange<unknown, unknown>;

type Handle = (exchange: AnyExchange) => Promise<Answer> | Answer;

const handle = (exchange: AnyExchange, endpoint: Handle) => endpoint(exchange);

/** The rest of the request's stream is discarded once the answer is known. */
async function handleStream(exchange: AnyExchange, endpoint: Handle): Promise<Answer> {
  try {
    return await endpoint(exchange);
  } finally {
    if (exchange.body instanceof Readable) exchange.body.destroy();
  }
}

async function bodyOf(
  { raw }: FastifyRequest,
  schema: NonNullable<Endpoint['bodySchema']>,
  context: EndpointContext,
): Promise<unknown> {
  if (isBytes(schema)) return longBodyOf(raw);
  return parseInput(schema, parseJsonObject(await readJsonBytes(raw, context.clientIp(raw))));
}

function originOf(context: EndpointContext, request: FastifyRequest): RequestOrigin {
  const { ip, client, requestId } = context.requestCall(request, ANONYMOUS);
  return { ip: ip ?? null, client: client ?? null, requestId };
}

/** Fastify's parameters are always an object. */
function idIn(params: unknown): string {
  const [id = ''] = Object.values(params as Record<string, string>);
  return id;
}

function runner(
  context: EndpointContext,
  operations: PreparedOperations,
  { request, identity }: { request: FastifyRequest; identity: Identity },
): AnyExchange['run'] {
  return async <Variables extends object, Result>(stored: StoredOperation<Variables, Result>, variables: Variables) => {
    const operation = operations.get(stored);
    if (!operation) throw new Error('an endpoint ran an operation that it does not need');
    const { limitMs } = stored;
    const call = context.requestCall(request, identity);
    const limited = limitMs === undefined ? call : { ...call, limitMs };
    const { data, errors } = await context.executor.run(operation, variables as Record<string, unknown>, limited);
    if (errors?.[0]) throw errorOf(errors[0]);
    return data as Result; // the document is validated, and the type describes its selection
  };
}

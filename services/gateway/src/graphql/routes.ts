import { badUserInput, HTTP_STATUS, isErrorCode, toAppError, toGraphQLError } from '@taskmesh/contracts';
import { InvalidOperation, parseExactJson } from '@taskmesh/federation';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { isObject } from '@taskmesh/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import Negotiator from 'negotiator';
import type { IncomingMessage } from 'node:http';
import { type CallerClaims, callerOf, type GatewayContext } from '../context.ts';
import { isOfAnotherSite } from '../http/client.ts';
import { asClientRequest, type ClientRequest } from '../http/client-request.ts';
import { isTooDeep, memoryOf, readJsonObject } from '../http/json-body.ts';
import { jsonWeightIn, sendText, weightIn } from '../http/negotiation.ts';
import { readParameters } from '../http/query-parameters.ts';
import { JSON_TYPE, refuseOtherMethods, setErrorHead } from '../http/replies.ts';
import { serveExplorer, wantsExplorer } from '../pages/pages.ts';
import { internalError, publicError } from '../supergraph/client-errors.ts';
import type { AdmittedOperation, RequestCall } from '../supergraph/operation.ts';
import { isSubscription, type UncheckedRequest } from './admission.ts';
import type { GraphQLServer, HttpOperation } from './apollo-server.ts';

/** A refused request may not even parse, so its text is matched instead. */
const SUBSCRIPTION = /^\s*subscription\b/;
const METHODS = ['GET', 'HEAD', 'POST'];

/** Streams results over HTTP (SSE, multipart) to clients that accept that. */
export interface StreamTransport {
  /** Runs an admitted operation, which may also be a query or mutation. @throws AppError UNAUTHENTICATED unless a user calls */
  run(admitted: AdmittedOperation, exchange: StreamExchange): Promise<unknown>;
}

export interface StreamExchange {
  request: FastifyRequest;
  reply: FastifyReply;
  protocol: StreamProtocol;
  caller: RequestCall;
  /** Undefined unless the caller is a user. */
  claims: CallerClaims | undefined;
}

type HandlerContext = Pick<
  GatewayContext,
  'admission' | 'authenticate' | 'clientIp' | 'log' | 'operators' | 'requestCall' | 'blockingWork'
>;

export interface GraphQLRoutesDeps {
  context: HandlerContext;
  server: GraphQLServer;
  streams?: StreamTransport | undefined;
}

/** `/graphql`: POST, GET for queries, and a page for people. */
export function graphqlRoutes(app: FastifyInstance, { context, server, streams }: GraphQLRoutesDeps): void {
  const sendPage = serveExplorer(app);
  void app.register(async (scope) => {
    scope.setErrorHandler(failureSender(context));
    scope.route({
      method: METHODS,
      url: '/graphql',
      handler: async (request, reply) => {
        if (wantsExplorer(request)) return sendPage(reply);
        const canStream = streams !== undefined && request.method !== 'HEAD';
        const types = chooseResponseTypes(request.headers.accept, { canStream });
        const { json, stream: protocol } = types;
        const { outcome, caller, claims } = await admit(context, request, types);
        if (protocol && !(outcome instanceof InvalidOperation) && (json === undefined || isSubscription(outcome)))
          return streams?.run(outcome, { request, reply, protocol, caller, claims });
        const operation = { outcome, caller, type: json ?? JSON_TYPE }; // without `json`, it was a stream or an error
        const { status, headers, body } = await server.execute(operation);
        reply.code(status).headers(Object.fromEntries(headers)).header('cache-control', 'no-store');
        return sendText(request, reply, { text: body, mayCompress: isQuery(operation) });
      },
    });
    refuseOtherMethods(scope, '/graphql', METHODS);
  });
}

/** Rejects if the request cannot be read, or if an operation is refused whose client would get a stream. */
async function admit(context: HandlerContext, request: FastifyRequest, { json, stream }: ResponseTypes) {
  const { raw } = request;
  const sent = await readRequest(raw, context);
  const { identity, claims } = await identify(context, raw);
  const caller = context.requestCall(request, identity);
  const arrival = { isGet: raw.method !== 'POST', canStream: stream !== undefined, caller };
  const outcome = await context.admission.admit(sent, arrival).catch(invalidOperation);
  const wouldStream =
    stream && (json === undefined || (typeof sent.query === 'string' && SUBSCRIPTION.test(sent.query)));
  if (wouldStream && outcome instanceof InvalidOperation) throw outcome;
  return { outcome, caller, claims };
}

const failureSender =
  ({ log }: HandlerContext) =>
  (error: unknown, { id }: FastifyRequest, reply: FastifyReply) => {
    const { httpStatus, errors, retryAfterSeconds } = toFormatted(error, id);
    if (httpStatus >= 500 && httpStatus !== 503) log.error({ err: error, requestId: id }, 'request failed');
    if (httpStatus === 405) reply.header('allow', 'POST');
    return setErrorHead(reply, { httpStatus, retryAfterSeconds })
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store')
      .send(JSON.stringify({ errors }));
  };

/** Results of mutations may contain tokens. Compressed together with input from the client, their length would reveal them. */
const isQuery = ({ outcome }: HttpOperation) =>
  !(outcome instanceof InvalidOperation) && outcome.operation.operation.operation === 'query';

function invalidOperation(error: unknown): InvalidOperation {
  if (error instanceof InvalidOperation) return error;
  throw error;
}

/** An invalid token counts as none, so that `login` and `refreshSession` work with it; fields that need a user report an error. */
async function identify(
  context: Pick<GatewayContext, 'authenticate' | 'clientIp' | 'operators'>,
  request: IncomingMessage,
): Promise<{ identity: Identity; claims?: CallerClaims }> {
  if (await context.operators.isOperator(request)) return { identity: { role: 'operator' } };
  const caller = await callerOf(context, request);
  return caller.kind === 'user' ? caller : { identity: ANONYMOUS };
}

function toFormatted(error: unknown, requestId: string) {
  if (error instanceof InvalidOperation)
    return { httpStatus: error.httpStatus ?? 400, errors: error.errors.map((each) => each.toJSON()) };
  const known = error instanceof GraphQLError ? error : toGraphQLError(toAppError(error));
  const { code, retryAfterSeconds } = known.extensions as { code?: string; retryAfterSeconds?: number };
  return {
    httpStatus: isErrorCode(code) ? HTTP_STATUS[code] : code ? 400 : 500,
    errors: [publicError(known.toJSON()) ?? internalError(requestId)],
    retryAfterSeconds,
  };
}

/** Our clients set these. Foreign pages cannot: the browser would send a preflight, which is refused. */
const PREFLIGHT_HEADERS = ['apollo-require-preflight', 'x-apollo-operation-name'];
const PARAMETERS = new Set(['query', 'operationName', 'documentId', 'variables', 'extensions']);

/** Reads a GraphQL request from the body or the search parameters of an HTTP request. @throws AppError */
async function readRequest(
  request: IncomingMessage,
  context: Pick<GatewayContext, 'clientIp' | 'blockingWork'>,
): Promise<UncheckedRequest> {
  if (request.method === 'POST') return readJsonObject(request, context, parseExactJson);
  refuseForeignPage(request);
  return readSearch(asClientRequest(request));
}

/** A page of another origin must not use a browser to run queries with rights that only the browser has. */
function refuseForeignPage({ headers }: IncomingMessage): void {
  const isForeign = headers.origin !== undefined || isOfAnotherSite(headers);
  if (!isForeign || PREFLIGHT_HEADERS.some((name) => headers[name])) return;
  const message = 'A query by GET from another page needs the header apollo-require-preflight.';
  throw badUserInput([{ path: '', message }]);
}

/** Parsed values count while the operation waits, as those of a body do. */
function readSearch(request: ClientRequest): UncheckedRequest {
  const { variables, extensions, ...texts } = readParameters(request.url ?? '', PARAMETERS);
  request.keep(memoryOf(Buffer.from([variables, extensions].join(''))));
  return {
    ...texts,
    variables: parseParameter('variables', variables),
    extensions: parseParameter('extensions', extensions),
  };
}

/** Parses like a body. The length of a request line keeps it within the limit of keys and values. */
function parseParameter(name: string, text: string | undefined): unknown {
  const refused = (rule: string) => badUserInput([{ path: name, message: `${name} must be ${rule}.` }]);
  let value: unknown;
  try {
    value = text === undefined ? undefined : parseExactJson(text);
  } catch {
    throw refused('JSON'); // the parser's own message would repeat parts of it
  }
  if (isObject(value) && isTooDeep(value)) throw refused('nested less deeply');
  return value;
}

const JSON_TYPES = [JSON_TYPE, 'application/graphql-response+json; charset=utf-8'];
const SSE_TYPE = 'text/event-stream; charset=utf-8';
const SSE_RANGE = /^\s*text\/event-stream\b/i;
const MULTIPART_RANGE = /^\s*multipart\/mixed\s*;(?:.*;)?\s*subscriptionspec\s*=\s*"?1\.0"?\s*(?:;|$)/i;
const QUALITY = /;\s*q\s*=[^;]*/i;

export type StreamProtocol = 'sse' | 'multipart';

/** The types in which a client accepts a response. Without `json`, it accepts only streams. */
export type ResponseTypes =
  { json: string; stream?: StreamProtocol | undefined } | { json?: undefined; stream: StreamProtocol };

/**
 * Chooses the type of a response to `/graphql` from `Accept`, before anything runs: it is too late to refuse the type
 * afterwards. Streams must be accepted by name.
 * @throws InvalidOperation (406) if the client accepts none of our types
 */
function chooseResponseTypes(accept: string | undefined, { canStream }: { canStream: boolean }): ResponseTypes {
  if (!accept) return { json: JSON_TYPE };
  const negotiator = new Negotiator({ headers: { accept } });
  const json = negotiator.mediaType(JSON_TYPES);
  const stream = canStream ? streamIn(accept, negotiator) : undefined;
  if (stream && (json === undefined || weightIn(accept, isStream) > jsonWeightIn(accept))) return { stream };
  if (json === undefined) throw notAcceptable();
  return { json, stream };
}

function streamIn(accept: string, negotiator: Negotiator): StreamProtocol | undefined {
  const ranges = accept.split(',');
  if (ranges.some((range) => SSE_RANGE.test(range)) && negotiator.mediaType([SSE_TYPE])) return 'sse';
  const multipart = ranges.find((range) => MULTIPART_RANGE.test(range));
  // Its other parameters, such as a boundary, are accepted as the client wrote them.
  return multipart && negotiator.mediaType([multipart.replace(QUALITY, '')]) ? 'multipart' : undefined;
}

const isStream = (range: string) => SSE_RANGE.test(range) || MULTIPART_RANGE.test(range);

function notAcceptable(): InvalidOperation {
  const message = `Accept must allow one of ${[...JSON_TYPES, SSE_TYPE].join(', ')}, multipart/mixed;subscriptionSpec=1.0.`;
  return new InvalidOperation('BAD_USER_INPUT', [toGraphQLError(badUserInput([{ path: '', message }]))], 406);
}

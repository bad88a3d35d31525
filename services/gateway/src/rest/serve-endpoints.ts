import {
  AppError,
  forbidden,
  isErrorCode,
  notFound,
  parseInput,
  rateLimited,
  toAppError,
  unauthenticated,
  unavailable,
} from '@taskmesh/contracts';
import { type AccessTokenClaims, ANONYMOUS, type Identity } from '@taskmesh/identity';
import { createLines, type Lines, type OnWorkProgress } from '@taskmesh/internal-api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';
import { Readable } from 'node:stream';
import { callerOf, type GatewayContext } from '../context.ts';
import { openLongBody } from '../http/bodies.ts';
import { readJsonObject } from '../http/json-body.ts';
import { addVary, prefers, sendText } from '../http/negotiation.ts';
import { type Envelope, errorBody, JSON_TYPE, refuseOtherMethods, sendError, setErrorHead } from '../http/replies.ts';
import { wantsPage } from '../pages/page.ts';
import {
  type Access,
  type EndpointResponse,
  type Endpoint,
  type ErrorPage,
  type Exchange,
  isBytes,
} from './endpoint.ts';
import type { StoredOperations } from './operations.ts';
import { isKnown } from './preconditions.ts';

export type RegisterContext = EndpointContext & Pick<GatewayContext, 'log'>;

export interface Mount {
  prefix: string;
  envelope: Envelope;
  endpoints: readonly Endpoint[];
}

/** Serves endpoints below a prefix, and responds to OPTIONS and, with 405, to other methods on each of their paths. */
export function registerEndpoints(
  app: FastifyInstance,
  context: RegisterContext,
  operations: StoredOperations,
  { prefix, envelope, endpoints }: Mount,
): void {
  const logged = (error: unknown, requestId: string) => {
    const known = toAppError(error);
    if (known !== error && known.httpStatus === 500) context.log.error({ err: error, requestId }, 'request failed');
    return known;
  };
  const failureLine = (error: unknown, requestId: string) => {
    const known = logged(error, requestId);
    return { status: known.httpStatus, ...errorBody(known, requestId, envelope) };
  };
  const sendFailure = (error: unknown, request: FastifyRequest, reply: FastifyReply, page: ErrorPage | undefined) => {
    const known = logged(error, request.id);
    if (!page) return sendError(reply, known, envelope);
    addVary(reply, 'Accept').header('cache-control', 'no-store');
    return wantsPage(request) ? page(setErrorHead(reply, known), known) : sendError(reply, known, envelope);
  };
  for (const endpoint of endpoints) {
    const { path, status = 200, lineSchema, errorPage } = endpoint;
    const isSecret = mayHoldSecrets(endpoint);
    const handle = createRequestHandler(context, operations, endpoint);
    app.route({
      method: methodsOf(endpoint),
      url: urlOf(prefix, path),
      errorHandler: (error, request, reply) => void sendFailure(error, request, reply, errorPage),
      handler: async (request, reply) => {
        if (isSecret) reply.header('cache-control', 'no-store');
        const inLines = lineSchema !== undefined && prefers(request.headers.accept, NDJSON_TYPE);
        let lines: Lines | undefined;
        const begin = () => (lines ??= beginLines(reply));
        try {
          const response = await handle(request, inLines ? (progress) => begin().progress(progress) : undefined);
          const given = { status, ...response };
          // A failure before any progress gets an ordinary response.
          if (!inLines || (given.status >= 400 && !lines)) return await sendResponse(request, reply, given);
          begin().end({ status: given.status, ...given.body, ...given.lastLine });
        } catch (error) {
          if (!lines) throw error;
          lines.end(failureLine(error, request.id));
        }
        return reply;
      },
    });
  }
  for (const [path, members] of Map.groupBy(endpoints, (endpoint) => endpoint.path))
    refuseOtherMethods(app, urlOf(prefix, path), members.flatMap(methodsOf), envelope);
}

/** Responses for operators or about an account must not be cached: they may contain tokens. */
const mayHoldSecrets = ({ access, path }: Endpoint) =>
  access === 'operator' || access === 'operators-place' || path.startsWith('/auth/');

const urlOf = (prefix: string, path: string) => `${prefix}${path.replace(/\{(\w+)\}/, ':$1')}`;

const methodsOf = ({ method }: Endpoint) => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

type EndpointContext = Pick<GatewayContext, 'authenticate' | 'clientIp' | 'operators' | 'requestCall' | 'blockingWork'>;

type HandleRequest = (request: FastifyRequest, onProgress?: OnWorkProgress) => Promise<EndpointResponse>;

const OPERATOR: Identity = { role: 'operator' };

/** Handles one request after routing. Checks in this order: the caller, the query or body, then the endpoint's own. */
function createRequestHandler(
  context: EndpointContext,
  operations: StoredOperations,
  endpoint: Endpoint,
): HandleRequest {
  const { access, bodySchema, query } = endpoint;
  return async (request, onProgress) => {
    const { identity, claims } = await identify(access, context, request);
    const run: Exchange['run'] = async (operation, variables) => {
      const call = context.requestCall(request, identity);
      const { data, errors } = await operations.run(operation, variables as Record<string, unknown>, call);
      if (errors?.[0]) throw errorOf(errors[0]);
      return data as never; // the document is validated, and the type describes its selection
    };
    const exchange = {
      query: query?.read(request),
      body: bodySchema && (await bodyOf(request, bodySchema, context)),
      id: idIn(request.params),
      claims,
      raw: request.raw,
      origin() {
        const { ip, client, requestId } = context.requestCall(request, ANONYMOUS);
        return { ip, client: client ?? null, requestId };
      },
      isHead: request.method === 'HEAD',
      onProgress,
      run,
    };
    try {
      return await endpoint.handle(exchange);
    } finally {
      // The rest of the request's stream is discarded once the result is known.
      if (exchange.body instanceof Readable) exchange.body.destroy();
    }
  };
}

interface Identified {
  identity: Identity;
  claims?: AccessTokenClaims;
}

/** @throws AppError UNAUTHENTICATED, FORBIDDEN or RATE_LIMITED unless the caller has access */
async function identify(access: Access, context: EndpointContext, request: FastifyRequest): Promise<Identified> {
  if (access === 'user' || access === 'optional') {
    const caller = await callerOf(context, request.raw);
    if (caller.kind === 'user') return caller;
    // As in GraphQL, an invalid token counts as none.
    if (access === 'user') throw unauthenticated();
  }
  if (access === 'operator') {
    const check = await context.operators.check(request.raw);
    if (check !== 200) throw check === 401 ? unauthenticated(WRONG_TOKEN) : forbidden(FOREIGN);
    return { identity: OPERATOR };
  }
  // The caller is about to prove that they are an operator.
  if (access === 'operators-place' && !context.operators.isAllowedOrigin(request.raw)) throw forbidden(FOREIGN);
  return { identity: ANONYMOUS };
}

const FOREIGN = 'This is for callers on this machine (localhost) only, unless there is a backup token.';
const WRONG_TOKEN = 'The token of operators is missing or wrong.';

async function bodyOf(
  { raw }: FastifyRequest,
  schema: NonNullable<Endpoint['bodySchema']>,
  context: EndpointContext,
): Promise<unknown> {
  if (isBytes(schema)) return openLongBody(raw);
  return parseInput(schema, await readJsonObject(raw, context));
}

/** Fastify's parameters are always an object. */
function idIn(params: unknown): string {
  const [id = ''] = Object.values(params as Record<string, string>);
  return id;
}

/** BAD_USER_INPUT in GraphQL, but a status of its own in REST. */
class KeyReused extends AppError {
  override get httpStatus(): number {
    return 422;
  }
}

function keyReused(): AppError {
  const message = 'Idempotency-Key was used before, with another body.';
  return new KeyReused('BAD_USER_INPUT', message, { issues: [{ path: 'Idempotency-Key', message }] });
}

/** Translates an error of the graph to REST. Details that clients must not see have been logged by the executor. */
function errorOf({ message, extensions = {} }: GraphQLFormattedError): AppError {
  const { code } = extensions;
  const issues = issuesIn(extensions);
  // A newer graph no longer has the operation: the path is absent, as it would be after a restart.
  if (code === 'OPERATION_RESOLUTION_FAILURE') return notFound('There is nothing at this path.');
  if (!isErrorCode(code) || code === 'INTERNAL_SERVER_ERROR')
    return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error.');
  if (code === 'RATE_LIMITED') return rateLimited(secondsIn(extensions), message);
  if (code === 'SERVICE_UNAVAILABLE') return unavailable(message);
  if (issues?.some(({ path }) => path === 'idempotencyKey')) return keyReused();
  const passes = code === 'CONFLICT' && extensions['retryAfterSeconds'] !== undefined;
  return new AppError(code, message, { issues, ...(passes && { retryAfterSeconds: secondsIn(extensions) }) });
}

/** GraphQL input fields that are named differently in REST. */
const FIELD_NAMES = new Map([
  ['currentPassword', 'current_password'],
  ['expiresAt', 'expires_at'],
  ['newPassword', 'password'],
  ['refreshToken', 'refresh_token'],
]);

function issuesIn({ issues }: Record<string, unknown>): AppError['issues'] {
  if (!Array.isArray(issues)) return undefined;
  return issues.map(({ path, message }: Record<'path' | 'message', string>) => {
    const field = path.replace(/^input\./, '');
    return { path: FIELD_NAMES.get(field) ?? field, message };
  });
}

function secondsIn({ retryAfterSeconds }: Record<string, unknown>): number {
  return typeof retryAfterSeconds === 'number' ? Math.max(1, Math.ceil(retryAfterSeconds)) : 1;
}

type ResponseWithStatus = EndpointResponse & { status: number };

const READS = new Set(['GET', 'HEAD']);

async function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  response: ResponseWithStatus,
): Promise<FastifyReply> {
  const { status, headers, body, etag, next } = response;
  // Caches may store a response, but must not share it, and must revalidate it.
  const isSecret = reply.getHeader('cache-control') === 'no-store';
  if (!isSecret) reply.header('cache-control', 'private, no-cache');
  if (headers) reply.headers(headers);
  // Relative to the requested URL, because proxies may serve it under another path.
  if (next !== undefined) reply.header('link', `<?${next}>; rel="next"`);
  if (etag !== undefined) {
    reply.header('etag', etag);
    if (READS.has(request.method) && isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
  }
  reply.code(status);
  if (body === null) return reply.send();
  if (body instanceof Readable) return reply.send(body);
  reply.header('content-type', JSON_TYPE).header('x-content-type-options', 'nosniff');
  // The compressed length can reveal secrets. And a strong tag must not stand for two encodings.
  const mayCompress = etag === undefined && !isSecret;
  return sendText(request, reply, { text: JSON.stringify(body), mayCompress });
}

/** NDJSON: each line is a JSON object. */
export const NDJSON_TYPE = 'application/x-ndjson';
const REPEAT_MS = 5_000;

/** Streams progress, then the result, whose line includes the status. If the client disconnects, the work continues. */
function beginLines(reply: FastifyReply): Lines {
  const lines = createLines({ repeatMs: REPEAT_MS });
  reply.code(200).header('content-type', NDJSON_TYPE).send(lines.stream);
  return lines;
}

import { AppError, forbidden, toGraphQLError } from '@taskmesh/contracts';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import {
  closePromptly,
  NO_TRACING,
  requestSpan,
  traceRequests,
  type Log,
  type Service,
  type Tracing,
} from '@taskmesh/service';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import { fastify, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Routes } from '../calls.ts';
import type { Subgraph, SubgraphCall } from './subgraph.ts';

const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
const GATEWAY = 'gateway';
/** The header with which a router requests federated tracing, and its only defined value. */
const INCLUDE_TRACE = 'apollo-federation-include-trace';
const TRACE_FORMAT = 'ftv1';

/** A gateway that has not read a response after this time has abandoned the request, or is frozen. */
const READ_TIMEOUT_MS = 15_000;
/** Long enough for active gateways to learn that they must open another connection. */
const LINGER_MS = 3_000;

export interface SubgraphServerOptions {
  subgraph: Subgraph;
  host: string;
  port: number;
  /** Reads the caller's identity from the `authorization` header. @throws AppError UNAUTHENTICATED */
  authenticate: (authorization: string | undefined) => Promise<Identity>;
  routes?: Routes[];
  /** @default no tracing */
  tracing?: Tracing;
  log: Log;
}

/** Serves `POST /graphql` to the gateway, which must send an identity token. */
export function createSubgraphServer(options: SubgraphServerOptions): Service & { address(): string } {
  const { subgraph, host, port, authenticate, routes = [], tracing = NO_TRACING, log } = options;
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    keepAliveTimeout: 75_000,
    // A stopping service still responds to requests on open connections, then closes them.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // GraphQL validates clients' variables, as it does in a single process.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  });
  closePromptly(app, { lingerMs: LINGER_MS });
  const identities = new WeakMap<FastifyRequest, Identity>();
  const identityOf = (request: FastifyRequest) => identities.get(request) ?? ANONYMOUS;
  let address = '';

  // Authenticates by headers only, on every path: a stranger's body is not even read.
  app.addHook('onRequest', async (request) => {
    identities.set(request, await authenticate(request.headers.authorization));
  });
  // Added after authentication, so that a stranger's requests are not traced.
  if (tracing !== NO_TRACING)
    traceRequests(app, (request) =>
      tracing.continueTrace(singleHeader(request.headers.traceparent), () => requestSpan(request)),
    );
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 401 || reply.statusCode === 403) reply.header('connection', 'close');
  });

  app.post<{ Body: SubgraphRequest }>('/graphql', async (request, reply) => {
    const identity = identityOf(request);
    if (!isForGraph(identity)) throw forbidden('For the gateway only.');
    const sent = new Promise((resolve) => reply.raw.once('close', resolve));
    const result = await subgraph.execute(request.body, { ...callOf(request.raw, identity), sent });
    const tooSlow = setTimeout(() => reply.raw.destroy(), READ_TIMEOUT_MS);
    void sent.then(() => clearTimeout(tooSlow));
    return reply.header('content-type', 'application/json').send(JSON.stringify(result));
  });
  for (const add of routes) add(app, { identityOf, log });

  app.setErrorHandler(async (error, request, reply) => {
    if (error instanceof AppError)
      return reply.code(error.httpStatus).send({ errors: [toGraphQLError(error).toJSON()] });
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status >= 500) log.error({ err: error, url: request.url }, 'request failed');
    return reply.code(status).send({ errors: [{ message: status < 500 ? String(error) : 'Internal server error' }] });
  });

  return {
    async start() {
      address = await app.listen({ host, port });
      log.info({ address }, 'listening');
    },
    stop: () => app.close(),
    address: () => address,
  };
}

/** Of services, only the gateway may use GraphQL; the others have internal calls. */
function isForGraph(identity: Identity): boolean {
  return identity.role !== 'service' || identity.name === GATEWAY;
}

/** Describes the caller of an HTTP request. */
function callOf({ headers, socket }: IncomingMessage, identity: Identity): SubgraphCall {
  return {
    identity,
    requestId: singleHeader(headers['x-request-id']) ?? randomUUID(),
    traceparent: singleHeader(headers.traceparent),
    isCancelled: () => socket.destroyed,
    isTraced: singleHeader(headers[INCLUDE_TRACE]) === TRACE_FORMAT,
  };
}

function singleHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

import { AppError, toGraphQLError } from '@taskmesh/errors';
import type { Identity } from '@taskmesh/identity';
import type { Log, Service } from '@taskmesh/service';
import { fastify, type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Subgraph, SubgraphRequest } from './subgraph.ts';

const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

export interface SubgraphServerOptions {
  subgraph: Subgraph;
  host: string;
  port: number;
  /** Reads the caller's identity out of the `authorization` header. @throws AppError UNAUTHENTICATED */
  authenticate: (authorization: string | undefined) => Promise<Identity>;
  /** More routes: the service's internal API. */
  routes?: (app: FastifyInstance) => void;
  log: Log;
}

/** `POST /graphql` for the gateway: nobody gets in without an identity token, and no other host is asked for anything. */
export function createSubgraphServer(options: SubgraphServerOptions): Service & { address(): string } {
  const { subgraph, host, port, authenticate, routes, log } = options;
  const app = fastify({ logger: false, bodyLimit: BODY_LIMIT_BYTES, keepAliveTimeout: 75_000 });
  let address = '';

  app.post<{ Body: SubgraphRequest }>('/graphql', async (request, reply) => {
    const { authorization, traceparent } = request.headers;
    const requestId = one(request.headers['x-request-id']) ?? randomUUID();
    const identity = await authenticate(authorization);
    const result = await subgraph.execute(request.body, { identity, requestId, traceparent: one(traceparent) });
    return reply.header('content-type', 'application/json').send(JSON.stringify(result));
  });
  routes?.(app);

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

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

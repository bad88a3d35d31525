import type { ApolloServer } from '@apollo/server';
import { toGraphQLError, type AppError } from '@taskmesh/errors';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { internalError, publicError } from '../graph/client-errors.ts';
import type { RequestCall } from '../graph/executor.ts';
import { toAppError } from '../http/errors.ts';
import { addOtherMethods } from '../http/other-methods.ts';
import { authorizationOf, type GatewayParts } from '../parts.ts';
import { explorerRoutes, wantsPage } from './explorer/routes.ts';
import { readGraphQLRequest } from './request.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

const METHODS = ['GET', 'HEAD', 'POST'];

/** Takes requests of a transport of its own (SSE, multipart) before Apollo Server sees them. */
export interface StreamTransport {
  claims(request: FastifyRequest): boolean;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export interface GraphQLRoutesDeps {
  apollo: ApolloServer<RequestCall>;
  trusted: TrustedDocuments;
  streams?: StreamTransport;
}

/** `/graphql`: POST, GET for queries, and a page for people. */
export function graphqlRoutes(
  app: FastifyInstance,
  parts: GatewayParts,
  { apollo, trusted, streams }: GraphQLRoutesDeps,
): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const httpGraphQLRequest = await readGraphQLRequest(request, trusted);
    const call = parts.requestCall(request, await identityOf(parts, request));
    const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest,
      context: async () => call,
    });
    if (body.kind !== 'complete') throw new Error('Nothing here answers in parts.');
    for (const [name, value] of headers) reply.header(name, value);
    return reply
      .code(status ?? 200)
      .header('cache-control', 'no-store')
      .send(body.string);
  };

  const sendPage = explorerRoutes(app);
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) =>
      sendGraphQLError(reply, error, (cause) =>
        parts.log.error({ err: cause, requestId: request.id }, 'request failed'),
      ),
    );
    scope.route({
      method: METHODS,
      url: '/graphql',
      handler: async (request, reply) => {
        if (streams?.claims(request)) return streams.handle(request, reply);
        if (wantsPage(request)) return sendPage(reply);
        return answer(request, reply);
      },
    });
    addOtherMethods(scope, '/graphql', METHODS);
  });
}

/** A stale token makes nobody: so `login` and `refreshSession` work beside it, and fields that need a user say so. */
async function identityOf(parts: GatewayParts, request: FastifyRequest): Promise<Identity> {
  const values = authorizationOf(request.raw);
  // Without a token, or with the operators' one: a user's token is that user and nothing more.
  if (values.length === 0 || parts.config.secrets.backupToken !== undefined) {
    if (parts.operator(request.raw).ok) return { role: 'operator' };
    if (values.length === 0) return ANONYMOUS;
  }
  const caller = await parts.authenticate(values);
  return caller.kind === 'user' ? caller.identity : ANONYMOUS;
}

function sendGraphQLError(reply: FastifyReply, error: unknown, log: (error: unknown) => void): FastifyReply {
  const { status, formatted, retryAfterSeconds } = toFormatted(error, reply.request.id);
  if (status >= 500 && status !== 503) log(error);
  if (status === 503 || status === 429) reply.header('retry-after', String(retryAfterSeconds ?? 1));
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ errors: [formatted] }));
}

function toFormatted(error: unknown, requestId: string) {
  if (error instanceof GraphQLError) {
    const { status } = (error.extensions.http ?? {}) as { status?: number };
    return {
      status: status ?? 400,
      formatted: publicError(error.toJSON()) ?? internalError(requestId),
      retryAfterSeconds: undefined,
    };
  }
  const known: AppError = toAppError(error);
  const formatted = publicError(toGraphQLError(known).toJSON()) ?? internalError(requestId);
  return { status: known.httpStatus, formatted, retryAfterSeconds: known.retryAfterSeconds };
}

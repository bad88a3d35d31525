import { toGraphQLError, type AppError } from '@taskmesh/errors';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { bearsToken } from '@taskmesh/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { internalError, publicError } from '../graph/client-errors.ts';
import { InvalidOperation, type RequestCall } from '../graph/executor.ts';
import { toAppError } from '../http/errors.ts';
import { addOtherMethods } from '../http/other-methods.ts';
import { authorizationOf, type GatewayContext } from '../context.ts';
import { serveExplorer, wantsExplorer } from '../pages/explorer/explorer.ts';
import type { ApolloAnswers } from './apollo.ts';
import { readSent } from './request.ts';
import type { SentOperation } from './sent-operation.ts';

const METHODS = ['GET', 'HEAD', 'POST'];

/** Takes requests of a transport of its own (SSE, multipart) before Apollo Server sees them. */
export interface StreamTransport {
  claims(request: FastifyRequest): boolean;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export interface GraphQLRoutesDeps {
  apollo: ApolloAnswers;
  streams?: StreamTransport;
}

/** `/graphql`: POST, GET for queries, and a page for people. */
export function graphqlRoutes(
  app: FastifyInstance,
  context: GatewayContext,
  { apollo, streams }: GraphQLRoutesDeps,
): void {
  const tryToAdmit = async (sent: SentOperation, { method }: FastifyRequest, caller: RequestCall) => {
    try {
      return await context.admit(sent, { isGet: method !== 'POST', canStream: false, caller });
    } catch (error) {
      if (error instanceof InvalidOperation) return error;
      throw error;
    }
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const sent = await readSent(request);
    const call = context.requestCall(request, await identityOf(context, request));
    const outcome = await tryToAdmit(sent, request, call);
    const { status, headers, text } = await apollo.answer({ call, outcome, accept: request.headers.accept });
    for (const [name, value] of headers) reply.header(name, value);
    return reply.code(status).header('cache-control', 'no-store').send(text);
  };

  const sendPage = serveExplorer(app);
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) =>
      sendGraphQLError(reply, error, (cause) =>
        context.log.error({ err: cause, requestId: request.id }, 'request failed'),
      ),
    );
    scope.route({
      method: METHODS,
      url: '/graphql',
      handler: async (request, reply) => {
        if (streams?.claims(request)) return streams.handle(request, reply);
        if (wantsExplorer(request)) return sendPage(reply);
        return answer(request, reply);
      },
    });
    addOtherMethods(scope, '/graphql', METHODS);
  });
}

/** A stale token makes nobody: so `login` and `refreshSession` work beside it, and fields that need a user say so. */
async function identityOf(context: GatewayContext, request: FastifyRequest): Promise<Identity> {
  const values = authorizationOf(request.raw);
  const { backupToken, machineToken } = context.config.secrets;
  const operatorToken = backupToken ?? machineToken;
  // Without a token, or with the operators' one: a user's token is that user and nothing more.
  if (values.length === 0 || (operatorToken !== undefined && bearsToken(request.raw, operatorToken))) {
    if (context.operator(request.raw).ok) return { role: 'operator' };
    if (values.length === 0) return ANONYMOUS;
  }
  const caller = await context.authenticate(values);
  return caller.kind === 'user' ? caller.identity : ANONYMOUS;
}

function sendGraphQLError(reply: FastifyReply, error: unknown, log: (error: unknown) => void): FastifyReply {
  const { status, errors, retryAfterSeconds } = toFormatted(error, reply.request.id);
  if (status === 405) reply.header('allow', 'POST');
  if (status >= 500 && status !== 503) log(error);
  if (status === 503 || status === 429) reply.header('retry-after', String(retryAfterSeconds ?? 1));
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ errors }));
}

function toFormatted(error: unknown, requestId: string) {
  const told = (each: GraphQLError) => publicError(each.toJSON()) ?? internalError(requestId);
  if (error instanceof InvalidOperation)
    return { status: error.httpStatus ?? 400, errors: error.errors.map((each) => each.toJSON()) };
  if (error instanceof GraphQLError) {
    const { status = 400 } = (error.extensions.http ?? {}) as { status?: number };
    return { status, errors: [told(error)] };
  }
  const known: AppError = toAppError(error);
  return {
    status: known.httpStatus,
    errors: [told(toGraphQLError(known))],
    retryAfterSeconds: known.retryAfterSeconds,
  };
}

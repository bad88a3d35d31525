import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { serveExplorer, wantsExplorer } from '../pages/explorer/explorer.ts';
import type { AdmittedOperation } from './admission.ts';
import type { HttpAnswer } from './apollo-server.ts';
import type { GraphQLHandler } from './graphql-handler.ts';

const METHODS = ['GET', 'HEAD', 'POST'];

/** A transport of its own (SSE, multipart), for clients that accept it. */
export interface StreamTransport {
  /** What a client gets as a stream. Many accept both, and want a stream only of what JSON cannot answer. */
  wanted(accept: string | undefined): 'everything' | 'subscriptions' | undefined;
  /** Takes a request before it is read. */
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /** Takes a subscription that was read and admitted. */
  subscribe(subscription: AdmittedOperation, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export interface GraphQLRoutesDeps {
  handler: GraphQLHandler;
  streams?: StreamTransport;
}

/** `/graphql`: POST, GET for queries, and a page for people. */
export function graphqlRoutes(app: FastifyInstance, { handler, streams }: GraphQLRoutesDeps): void {
  const sendPage = serveExplorer(app);
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => send(reply, handler.failed(error, request)));
    scope.route({
      method: METHODS,
      url: '/graphql',
      handler: async (request, reply) => {
        const wanted = request.method === 'HEAD' ? undefined : streams?.wanted(request.headers.accept);
        if (streams && wanted === 'everything') return streams.handle(request, reply);
        if (wantsExplorer(request)) return sendPage(reply);
        if (!streams || !wanted) return send(reply, await handler.answer(request));
        const answer = await handler.answerUnlessSubscription(request);
        return 'operation' in answer ? streams.subscribe(answer, request, reply) : send(reply, answer);
      },
    });
    refuseOtherMethods(scope, '/graphql', METHODS);
  });
}

function send(reply: FastifyReply, { status, headers, text }: HttpAnswer): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value);
  return reply.code(status).send(text);
}

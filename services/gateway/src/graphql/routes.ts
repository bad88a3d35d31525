import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { serveExplorer, wantsExplorer } from '../pages/explorer/explorer.ts';
import type { HttpAnswer } from './apollo-server.ts';
import type { GraphQLHandler } from './graphql-handler.ts';

const METHODS = ['GET', 'HEAD', 'POST'];

/** Takes requests of a transport of its own (SSE, multipart) before they are read as one operation. */
export interface StreamTransport {
  claims(request: FastifyRequest): boolean;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
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
        if (streams?.claims(request)) return streams.handle(request, reply);
        if (wantsExplorer(request)) return sendPage(reply);
        return send(reply, await handler.answer(request));
      },
    });
    refuseOtherMethods(scope, '/graphql', METHODS);
  });
}

function send(reply: FastifyReply, { status, headers, text }: HttpAnswer): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value);
  return reply.code(status).send(text);
}

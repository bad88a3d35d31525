import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { addVary } from '../http/vary.ts';
import { serveExplorer, wantsExplorer } from '../pages/explorer/explorer.ts';
import type { AdmittedOperation } from './admission.ts';
import type { GraphQLHandler, HttpAnswer } from './graphql-handler.ts';
import { chooseResponseTypes, notAcceptable, type StreamProtocol } from './response-types.ts';

const METHODS = ['GET', 'HEAD', 'POST'];

/** A transport of its own (SSE, multipart), for clients that accept it. */
export interface StreamTransport {
  /** Takes a request before it is read. */
  handle(exchange: StreamExchange): Promise<unknown>;
  /** Takes a subscription that was read and admitted. */
  subscribe(subscription: AdmittedOperation, exchange: StreamExchange): Promise<unknown>;
}

export interface StreamExchange {
  request: FastifyRequest;
  reply: FastifyReply;
  protocol: StreamProtocol;
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
        if (wantsExplorer(request)) return sendPage(reply);
        const { json, stream } = chooseResponseTypes(request.headers.accept, { canStream: streams !== undefined });
        const protocol = request.method === 'HEAD' ? undefined : stream;
        if (!streams || !protocol) {
          if (json === undefined) throw notAcceptable();
          return send(reply, await handler.answer(request, json));
        }
        if (json === undefined) return streams.handle({ request, reply, protocol });
        const answer = await handler.answerUnlessSubscription(request, json);
        return 'operation' in answer ? streams.subscribe(answer, { request, reply, protocol }) : send(reply, answer);
      },
    });
    refuseOtherMethods(scope, '/graphql', METHODS);
  });
}

function send(reply: FastifyReply, { status, headers, body }: HttpAnswer): FastifyReply {
  for (const [name, value] of headers) {
    if (name === 'vary') addVary(reply, value);
    else reply.header(name, value);
  }
  return reply.code(status).send(body);
}

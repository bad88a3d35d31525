import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Answers a request, or passes it on to the framework; false when it did not look at it. */
export type AnswerBefore = (request: IncomingMessage, response: ServerResponse, handOn: () => void) => boolean;

/**
 * Lets requests be answered without the framework, until the app begins to close: then its answers tell clients to go
 * elsewhere. Call it before anything else listens to the server's requests.
 */
export function answerBefore(app: FastifyInstance, answer: AnswerBefore): void {
  const { server } = app;
  const [framework, ...others] = server.listeners('request') as RequestListener[]; // what an HTTP server calls
  if (!framework || others.length > 0) throw new Error('Somebody else listens to requests already.');
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  server.removeListener('request', framework);
  server.on('request', (request, response) => {
    if (isClosing || !answer(request, response, () => framework(request, response))) framework(request, response);
  });
}

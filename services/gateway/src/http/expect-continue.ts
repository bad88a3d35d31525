import type { IncomingMessage, Server } from 'node:http';

/** Says to a client that waits that its body may come. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * A client that sends `Expect: 100-continue` hears it when its body is wanted: what is refused before (a token, a path,
 * a size) is never uploaded. Expectations that nobody knows are ignored.
 */
export function awaitContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response;
    // Without its body the request never ends on this connection: an answer is the last one.
    response.shouldKeepAlive = false;
    waiting.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** To be called before a body is read. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.();
  waiting.delete(request);
}

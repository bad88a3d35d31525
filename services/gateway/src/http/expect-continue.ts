import type { IncomingMessage, Server } from 'node:http';

/** Sends the 100 to a client that waits for it. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * `Expect: 100-continue` is answered only when the body is wanted, so that a request that is refused before (for its
 * token, path or size) is never uploaded. Unknown expectations are ignored.
 */
export function awaitContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response;
    // Unless the body is read, the request never ends on this connection, so the answer has to be its last.
    response.shouldKeepAlive = false;
    waiting.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Call before reading a body. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.();
  waiting.delete(request);
}

import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';

/** How long a connection may take until its first request once its server stops: the request may be on its way. */
const FIRST_REQUEST_MS = 1_000;
const IDLE_SWEEP_MS = 50;

/** A server that stops waits for its requests, and for no connection without one: Node alone does not see to that. */
export function closePromptly(app: FastifyInstance): void {
  const { server } = app;
  /** Without a request so far. Node does not count them as idle, and times out none any more once the server closes. */
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  app.addHook('preClose', (done) => {
    // A connection whose last request ends after the server closed would stay open until its keep-alive ends.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS).unref();
    const cut = setTimeout(() => silent.forEach((socket) => socket.destroy()), FIRST_REQUEST_MS).unref();
    server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
    done();
  });
}

import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a request may take to arrive. */
const ARRIVAL_MS = 1_000;
const DRAIN_MS = 20_000;
const SWEEP_MS = 50;
/** Clients that have sent no request for this long count as inactive. */
const QUIET_MS = 1_000;

/**
 * A stopping server waits for its requests, within limits, but not for connections without one. Node considers those
 * busy that have sent nothing or part of a request, and no longer times them out once the server is closing. For
 * `lingerMs`, or until no client is active, the server still accepts requests, and each answer tells the client to
 * close: a request already sent over a connection that we close would fail.
 */
export function closePromptly(app: FastifyInstance, { lingerMs = 0 } = {}): void {
  const { server } = app;
  /** The last response on each connection. */
  const answers = new Map<Socket, ServerResponse | undefined>();
  server.on('connection', (socket: Socket) => {
    answers.set(socket, undefined);
    socket.once('close', () => answers.delete(socket));
  });
  let lastAskedAt = -Infinity;
  server.on('request', ({ socket }, answer) => {
    answers.set(socket, answer);
    lastAskedAt = performance.now();
  });

  app.addHook('preClose', async () => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    const lingersUntil = performance.now() + lingerMs;
    const isAtWork = () => answers.size > 0 && performance.now() < lastAskedAt + QUIET_MS;
    while (isAtWork() && performance.now() < lingersUntil) await sleep(SWEEP_MS);
    const begun = performance.now();
    const sweep = setInterval(() => {
      // A connection whose last request ends later would otherwise stay open until its keep-alive ends.
      server.closeIdleConnections();
      if (performance.now() - begun < ARRIVAL_MS) return;
      for (const [socket, answer] of answers) if (!answer || answer.writableFinished) socket.destroy();
    }, SWEEP_MS).unref();
    server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
}

import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request may be on its way for so long. */
const ARRIVAL_MS = 1_000;
/** Requests that run have this long to finish. */
const DRAIN_MS = 20_000;
const SWEEP_MS = 50;
/** Who has asked for nothing for so long is not at work. */
const QUIET_MS = 1_000;

/**
 * A server that stops waits for its requests, within bounds, and for no connection without one. Node counts those as busy
 * that have sent nothing yet, or a part of a request, and once a server closes it times out none of them any more.
 * For `lingerMs`, or until nobody is at work, it still takes requests, and each answer tells its client to close: a request
 * that is on its way over a connection that we close would fail.
 */
export function closePromptly(app: FastifyInstance, { lingerMs = 0 } = {}): void {
  const { server } = app;
  /** By connection, to its last request. */
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
      // A connection whose last request ends after the server closed would stay open until its keep-alive ends.
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

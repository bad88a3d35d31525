import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { Server } from 'node:http';
import { currentResponse } from './current-response.ts';

const CHECK_EVERY_MS = 2_500;
const CHECKS_PER_TIMEOUT = 8;

/** Requests have to arrive within `requestTimeoutMs`, headers within half of it. For answers see `cutSlowReaders`. */
export function clientTimeouts(requestTimeoutMs: number) {
  return {
    requestTimeout: requestTimeoutMs,
    connectionTimeout: requestTimeoutMs,
    http: {
      headersTimeout: requestTimeoutMs / 2,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, requestTimeoutMs / CHECKS_PER_TIMEOUT),
    },
  } satisfies FastifyHttpOptions<Server>;
}

/**
 * Cuts off clients that read nothing of their answer for `connectionTimeout`, as the unread rest stays in memory.
 * Clients whose answer is still being prepared are spared, however long that takes.
 */
export function cutSlowReaders(app: FastifyInstance): void {
  app.server.on('timeout', (socket) => {
    const answer = currentResponse(socket);
    const isBeingMade = answer !== undefined && !answer.writableEnded && socket.writableLength === 0;
    if (!isBeingMade) socket.destroy();
  });
}

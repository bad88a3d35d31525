import type { Log, Service } from '@taskmesh/service';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Some of the largest answers, whose whole size counts until the system has taken all of it. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
/** Cutting stops at this share of it. */
const RELIEVED_SHARE = 0.75;
/** Less than this may wait anywhere. */
const ORDINARY_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 100;

/**
 * Limits what all clients together have not read of their answers over HTTP: the connections that have waited for the longest are
 * cut. Sockets and streams have a budget of their own.
 */
export function limitUnreadAnswers(server: Server, log: Log, maxBytes = MAX_UNREAD_BYTES): Service {
  const open = new Set<Socket>();
  /** Those with something to read, the oldest first. */
  const waiting = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      waiting.delete(socket);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void open.delete(socket));

  const look = () => {
    for (const socket of open)
      if (socket.writableLength > ORDINARY_BYTES) waiting.add(socket);
      else waiting.delete(socket);
    let unread = 0;
    for (const socket of waiting) unread += socket.writableLength;
    if (unread <= maxBytes) return;
    let cut = 0;
    for (const socket of waiting) {
      if (unread <= maxBytes * RELIEVED_SHARE) break;
      unread -= socket.writableLength;
      socket.destroy();
      cut++;
    }
    log.warn({ cut, maxBytes }, 'too much waited for slow readers of answers: the slowest were cut off');
  };

  let timer: NodeJS.Timeout | undefined;
  return {
    async start() {
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

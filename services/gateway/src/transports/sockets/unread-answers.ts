import type { Log, Service } from '@taskmesh/service';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSendBufferBudget } from './send-buffer-budget.ts';

/** Some dozens of the largest answers. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/** Limits what all clients together have not read of their answers over HTTP. Sockets have a budget of their own. */
export function limitUnreadAnswers(server: Server, log: Log, maxBytes = MAX_UNREAD_BYTES): Service {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void open.delete(socket));
  const budget = createSendBufferBudget({
    maxBytes,
    queuedBytes: () => open.values().reduce((sum, socket) => sum + socket.writableLength, 0),
    readers: () => [...open].map((socket) => ({ waitingBytes: socket.writableLength, cut: () => socket.destroy() })),
    log,
  });
  return {
    start: () => Promise.resolve(budget.start()),
    stop: () => Promise.resolve(budget.stop()),
  };
}

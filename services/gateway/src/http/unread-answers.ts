import { networkOf, siteOf, type Log, type Service } from '@taskmesh/service';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { currentResponse } from './current-response.ts';
import { createUnreadBudget, type Reader } from './unread-budget.ts';

/** Some of the largest answers, whose whole size counts until the system has taken all of it. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

const accounts = new WeakMap<IncomingMessage, string>();
const uncounted = new WeakSet<ServerResponse>();

/** Whose request it is, for the limit on what all of an account leave unread. */
export const noteAccount = (request: IncomingMessage, userId: string): void => void accounts.set(request, userId);

/** For a response whose bytes are shared by all who read them, or counted elsewhere. */
export const leaveUncounted = (response: ServerResponse): void => void uncounted.add(response);

export const holderOf = (
  request: IncomingMessage,
  clientIp: (request: IncomingMessage) => string,
): Pick<Reader, 'network' | 'account'> => ({
  network: siteOf(networkOf(clientIp(request))),
  account: accounts.get(request),
});

export interface UnreadAnswersDeps {
  log: Log;
  clientIp: (request: IncomingMessage) => string;
  maxBytes?: number;
}

/** Limits what all clients together have not read of their answers over HTTP. Sockets and streams have a budget of their own. */
export function limitUnreadAnswers(
  server: Server,
  { log, clientIp, maxBytes = MAX_UNREAD_BYTES }: UnreadAnswersDeps,
): Service {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => void open.delete(socket));

  const waiting = () =>
    [...open].flatMap((socket) => {
      const response = socket.writableLength > 0 ? currentResponse(socket) : undefined;
      return response && !uncounted.has(response) ? [{ socket, request: response.req }] : [];
    });
  return createUnreadBudget({
    maxBytes,
    waitingBytes: () => waiting().reduce((sum, { socket }) => sum + socket.writableLength, 0),
    readers: () =>
      waiting().map(({ socket, request }) => ({
        waitingBytes: socket.writableLength,
        ...holderOf(request, clientIp),
        cut: () => void socket.destroy(),
      })),
    log,
    what: 'answers',
  });
}

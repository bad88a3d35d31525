import { networkOf, siteOf } from '@taskmesh/service';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { asClientRequest } from './client-request.ts';
import type { Holding } from './memory.ts';

const ends = new WeakMap<ServerResponse, () => void>();
const uncounted = new WeakSet<ServerResponse>();

/** How to end this response when too much waits to be read, instead of only breaking its connection off. */
export const endBy = (response: ServerResponse, end: () => void): void => void ends.set(response, end);

/** For a response whose bytes are shared by all who read them. */
export const leaveUncounted = (response: ServerResponse): void => void uncounted.add(response);

/** Finds what waits to be read of the responses of a server, streams included. */
export function unreadAnswers(server: Server, clientIp: (request: IncomingMessage) => string): () => Holding[] {
  /** Those being sent, not all connections: thousands may be idle. A response has a socket while it is its turn. */
  const current = new Set<ServerResponse>();
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (response.socket) current.add(response);
    else response.once('socket', () => current.add(response));
  });

  const waiting = (response: ServerResponse): Holding | undefined => {
    const { socket, req: request } = response;
    if (!socket || socket.destroyed || uncounted.has(response)) return void current.delete(response);
    if (socket.writableLength === 0) return undefined;
    return {
      bytes: socket.writableLength,
      account: asClientRequest(request).account,
      get network() {
        return siteOf(networkOf(clientIp(request)));
      },
      giveUp: ends.get(response) ?? (() => void socket.destroy()),
    };
  };
  return () => [...current].flatMap((response) => waiting(response) ?? []);
}

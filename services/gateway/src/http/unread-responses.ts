import { networkOf, siteOf } from '@taskmesh/service';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { asClientRequest } from './client-request.ts';
import type { Holding } from './memory.ts';

const ends = new WeakMap<ServerResponse, () => void>();
const uncounted = new WeakSet<ServerResponse>();

/** Sets how to end this response when too much waits to be read. By default, its connection is destroyed. */
export const setResponseEnd = (response: ServerResponse, end: () => void): void => void ends.set(response, end);

/** Does not count a response whose bytes are shared by all its readers. */
export const excludeFromUnread = (response: ServerResponse): void => void uncounted.add(response);

/** Finds the responses of a server, streams included, that wait to be read. */
export function trackUnreadResponses(server: Server, clientIp: (request: IncomingMessage) => string): () => Holding[] {
  /** Tracks only responses in flight: thousands of connections may be idle. A response has a socket while it is its turn. */
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
      evict: ends.get(response) ?? (() => void socket.destroy()),
    };
  };
  return () => [...current].flatMap((response) => waiting(response) ?? []);
}

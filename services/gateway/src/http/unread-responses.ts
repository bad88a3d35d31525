import { networkOf, siteOf } from '@taskmesh/service';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { currentResponse } from './client-connections.ts';
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
  /** Connections with a request since the last look, because thousands may be idle. */
  const busy = new Set<Socket>();
  server.on('request', ({ socket }: IncomingMessage) => void busy.add(socket));

  const waiting = (socket: Socket): Holding | undefined => {
    const response = currentResponse(socket);
    if (!response || socket.destroyed) return void busy.delete(socket);
    if (socket.writableLength === 0 || uncounted.has(response)) return undefined;
    const { req: request } = response;
    return {
      bytes: socket.writableLength,
      account: asClientRequest(request).account,
      get network() {
        return siteOf(networkOf(clientIp(request)));
      },
      evict: ends.get(response) ?? (() => void socket.destroy()),
    };
  };
  return () => [...busy].flatMap((socket) => waiting(socket) ?? []);
}

import proxyAddr from '@fastify/proxy-addr';
import { count, networkOf, NETWORKS_PER_SITE, siteOf } from '@taskmesh/service';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

const CHECK_EVERY_MS = 2_500;
const CHECKS_PER_TIMEOUT = 8;

/** Requests have to arrive within `requestTimeoutMs`, headers within half of it. For responses see `disconnectSlowReaders`. */
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
 * Disconnects clients that read nothing of their response for `connectionTimeout`, because the unread rest stays in memory.
 * A response that is still being prepared may take any time.
 */
export function disconnectSlowReaders(app: FastifyInstance): void {
  app.server.on('timeout', (socket) => {
    const response = currentResponse(socket);
    const isBeingMade = response !== undefined && !response.writableEnded && socket.writableLength === 0;
    if (!isBeingMade) socket.destroy();
  });
}

/** Limit for pipelined requests. Few clients send any, and each may have 16 KiB of headers. */
const MAX_WAITING = 8;

const connections = new WeakMap<Socket, { current: ServerResponse | undefined; waiting: number }>();

/** The response that is being sent on a connection. */
export const currentResponse = (socket: Socket): ServerResponse | undefined => connections.get(socket)?.current;

/** Whether a response is being sent on a connection. */
export const isServing = (socket: Socket): boolean => currentResponse(socket)?.writableFinished === false;

/**
 * Runs one request of a connection at a time, and stops reading while others wait. Node would run all pipelined requests, and
 * keep their responses where no limit counts them until the first one ends, which takes hours for a stream. Wraps the app's
 * own listener, the only one so far: responses that the app sends before its hooks must wait as well.
 */
export function serveSequentially(server: Server): void {
  const [serve] = server.listeners('request') as [RequestListener];
  server.off('request', serve).on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // Node still emits requests that it has read from a connection that was ended.
    if (socket.destroyed) return;
    const state = connections.get(socket) ?? { current: response, waiting: 0 };
    connections.set(socket, state);
    const begin = () => {
      state.current = response;
      // This also releases the request: the connection may stay idle for long.
      response.once('close', () => state.current === response && (state.current = undefined));
      serve.call(server, request, response);
    };
    // A response has no socket before the previous one on the connection has ended.
    if (response.socket) return begin();
    if (state.waiting >= MAX_WAITING) return void socket.destroy();
    state.waiting++;
    socket.pause();
    response.once('socket', () => {
      if (--state.waiting === 0) socket.resume(); // for the rest of its body
      begin();
    });
  });
}

/** Closes connections of a network beyond `maxPerNetwork`. Those of trusted proxies are not limited. */
export function limitConnections(
  server: NetServer,
  { maxPerNetwork, trustedProxies }: { maxPerNetwork: number; trustedProxies: readonly string[] },
): void {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const reserve = createNetworkSlots(maxPerNetwork);
  server.on('connection', (socket: Socket) => {
    const remoteAddress = socket.remoteAddress?.split('%')[0]; // without the interface of a link-local address
    if (remoteAddress === undefined || isTrusted(remoteAddress, 0)) return;
    const release = reserve(remoteAddress);
    if (release) socket.once('close', release);
    else socket.destroy();
  });
}

/** Reserves one of a limited number of places and returns how to release it; undefined when none is left. */
export type ReserveSlot = (key: string) => (() => void) | undefined;

/** Takes addresses as keys: `limit` places for each network, and `NETWORKS_PER_SITE` times as many for each IPv6 site. */
export function createNetworkSlots(limit: number): ReserveSlot {
  const networks = createSlots(limit);
  const sites = createSlots(NETWORKS_PER_SITE * limit);
  return (address) => {
    const network = networkOf(address);
    const release = networks(network);
    const releaseOfSite = release && sites(siteOf(network));
    if (!releaseOfSite) return void release?.();
    return () => {
      release();
      releaseOfSite();
    };
  };
}

/** `limit` places for each key. */
export function createSlots(limit: number): ReserveSlot {
  const taken = new Map<string, number>();
  return (key) => {
    if ((taken.get(key) ?? 0) >= limit) return undefined;
    count(taken, key, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) count(taken, key, -1);
      isReleased = true;
    };
  };
}

import proxyAddr from '@fastify/proxy-addr';
import { networkOf } from '@taskmesh/service';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

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

/** Few clients send a request before the response to the one before has ended; those that do send some. */
const MAX_WAITING = 32;

interface Turns {
  current: ServerResponse;
  waiting: number;
}

const connections = new WeakMap<Socket, Turns>();

/** The response that a connection is being sent, or was sent last. */
export const currentResponse = (socket: Socket): ServerResponse | undefined => connections.get(socket)?.current;

/**
 * Runs one request of a connection at a time. Node would run all that arrive, and keep their responses where no limit
 * counts them, for as long as the first one takes: a stream takes hours. Call it before any other hook.
 */
export function serveInTurn(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { socket } }, { raw: response }, done) => {
    const begin = () => {
      turns.current = response;
      done();
    };
    const turns = connections.get(socket) ?? { current: response, waiting: 0 };
    connections.set(socket, turns);
    // It has none before the response in front of it has ended.
    if (response.socket) return begin();
    if (turns.waiting >= MAX_WAITING) return void socket.destroy();
    turns.waiting++;
    response.once('socket', () => {
      turns.waiting--;
      begin();
    });
  });
}

/** Closes further connections of a network that has so many already. Those of trusted proxies are not limited. */
export function limitConnections(
  server: NetServer,
  { maxPerNetwork, trustedProxies }: { maxPerNetwork: number; trustedProxies: readonly string[] },
): void {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const take = createPlaces(maxPerNetwork);
  server.on('connection', (socket: Socket) => {
    const remoteAddress = socket.remoteAddress?.split('%')[0]; // without the interface of a link-local address
    if (remoteAddress === undefined || isTrusted(remoteAddress, 0)) return;
    const release = take(networkOf(remoteAddress));
    if (!release) return void socket.destroy();
    socket.once('close', release);
  });
}

/** Takes one of the places of a key and returns how to give it back, which counts once; undefined when none is left. */
export function createPlaces(perKey: number): (key: string) => (() => void) | undefined {
  const taken = new Map<string, number>();
  return (key) => {
    const count = taken.get(key) ?? 0;
    if (count >= perKey) return undefined;
    taken.set(key, count + 1);
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      const left = (taken.get(key) ?? 1) - 1;
      if (left > 0) taken.set(key, left);
      else taken.delete(key);
    };
  };
}

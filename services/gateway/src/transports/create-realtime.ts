import { AppError, unauthenticated, unavailable } from '@taskmesh/contracts';
import {
  closeAllGracefully,
  createAgeLimit,
  createHeartbeats,
  cut,
  cutFloods,
  endReasonOf,
  endSocket,
  REALTIME_PATH,
  unfinishedBytes,
  WS_CLOSE,
} from '@taskmesh/realtime-protocol';
import { count, detached, networkOf, siteOf } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { GatewayContext } from '../context.ts';
import { createFeed } from '../feed/feed.ts';
import { createSlots, createNetworkSlots } from '../http/client-connections.ts';
import { rawError } from '../http/replies.ts';
import { createRealtimeMetrics, type Protocol } from '../realtime-metrics.ts';
import { createAccountShares } from '../subscriptions/account-shares.ts';
import { createSubscriptions } from '../subscriptions/subscriptions.ts';
import { createErrorFormat, createResultFormat } from '../supergraph/client-errors.ts';
import { createGraphqlWs } from './graphql-ws/graphql-ws.ts';
import { createHttpStreams } from './http-streams/http-streams.ts';
import { createSessionWatch } from './session-watch.ts';
import { createTasksChannel } from './tasks-channel.ts';
import type { TransportDeps } from './transport.ts';

/** The cost limit for all subscriptions of an account per change, as a multiple of the limit for an operation. */
const ACCOUNT_COST_FACTOR = 2;
/** Messages may arrive in pieces. Even the smallest piece takes this much memory. */
const MIN_PIECE_BYTES = 256;
/** How many connections of one network beyond its limit are accepted at once, only so that they can read a close code. */
const REFUSALS_PER_IP = 100;
/** How long a drained socket may take to close. */
const GOODBYE_MS = 2_000;
/** Closing is spread over this time, so that clients do not all reconnect to the other gateways at once. */
const DRAIN_SPREAD_MS = 1_000;

/** A pause of the event loop that others hardly notice. */
const MAX_WORK_MS = 50;
/** Work that seems to have taken longer was interrupted, as by a frozen machine. */
const MAX_PAUSE_MS = 500;

export interface RealtimeDeps {
  /** From 0 to 1. Spreads out events that would otherwise make all clients act at once. */
  random: () => number;
}

/** The change feed, the subscriptions on it, and the protocols that carry them. */
export function createRealtime(context: GatewayContext, { random }: RealtimeDeps) {
  const { eventLog, connections, log, clock, graph, tracing } = context;
  const { maxSocketsPerUser, maxSocketsPerIp, maxMessageBytes, maxMessagesPerS, maxConnectionAgeS } =
    context.config.realtime;
  const metrics = createRealtimeMetrics(context.metrics, clock);
  const feed = createFeed({ eventLog, tasks: connections.tasks, log, metrics, tracing, random });
  const shares = createAccountShares(ACCOUNT_COST_FACTOR * context.config.graphql.maxCost, maxSocketsPerIp);
  const subscriptions = createSubscriptions({
    feed,
    clock,
    graph,
    formatResult: createResultFormat(log),
    metrics,
    shares,
    memory: context.memory,
    blockingWork: context.blockingWork,
    largeResponses: context.largeResponses,
  });
  const formatErrors = createErrorFormat(log);
  const watch = createSessionWatch(context);
  const reserveIp = createNetworkSlots(maxSocketsPerIp);
  const reserveRefusal = createNetworkSlots(REFUSALS_PER_IP);
  const heartbeats = createHeartbeats();
  const limitAge = createAgeLimit(maxConnectionAgeS, random);
  const ofSockets: TransportDeps = {
    context,
    watch,
    reserveUser: createSlots(maxSocketsPerUser),
    heartbeats,
    limitAge,
    metrics,
  };
  const openGraphqlWs = createGraphqlWs({ ...ofSockets, subscriptions, formatErrors });
  const channel = createTasksChannel({ ...ofSockets, feed, shares });
  /** Handles `/graphql` requests that accept a stream. */
  const streams = createHttpStreams({
    ...ofSockets,
    reserveUser: createSlots(maxSocketsPerUser),
    reserveIp: createNetworkSlots(maxSocketsPerIp),
    subscriptions,
    random,
  });
  const maxPieces = Math.ceil(maxMessageBytes / MIN_PIECE_BYTES);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    maxFragments: maxPieces,
    maxBufferedChunks: maxPieces,
    perMessageDeflate: false,
    // Accept unknown protocols, too, so that their clients can read the close code.
    handleProtocols: (protocols) =>
      protocols.has('graphql-transport-ws') ? 'graphql-transport-ws' : ([...protocols][0] ?? false),
  });

  let isDraining = false;
  const networks = new WeakMap<WebSocket, string>();
  metrics.watchOwners(() => feed.owners());
  context.memory.watch(shares.waiting);
  context.memory.watch(() =>
    [...sockets.clients].flatMap((socket) => {
      const bytes = socket.bufferedAmount + unfinishedBytes(socket);
      return bytes === 0 ? [] : { bytes, network: networks.get(socket) ?? '', evict: () => cut(socket, 'slow') };
    }),
  );

  sockets.on('wsClientError', (error, socket) => refuseUpgrade(socket, new AppError('BAD_USER_INPUT', error.message)));

  // Not inside `upgrade` or `accept`: the listeners' closures would keep the request for as long as the socket lives.
  const watchEnd = (webSocket: WebSocket, protocol: Protocol) => {
    const disconnected = metrics.connected(protocol);
    webSocket.once('close', (code) => disconnected(endReasonOf(webSocket, code)));
    // An error of one socket must end only that socket.
    webSocket.on('error', () => webSocket.terminate());
  };
  /** In the current second, by site. */
  const workMs = new Map<string, number>();
  let secondMs = 0;
  const pausedSites = new Set<string>();
  const ofSite = (site: string) => [...sockets.clients].filter((each) => networks.get(each) === site);
  /** After some work for what sockets of a site sent, none of them is read for as long, so that others have half of the time. */
  const limitWork = (webSocket: WebSocket) => {
    const site = networks.get(webSocket) ?? '';
    if (pausedSites.has(site)) webSocket.pause();
    let begunMs = 0;
    webSocket.prependListener('message', () => void (begunMs = performance.now()));
    webSocket.on('message', () => {
      if (begunMs - secondMs > 1_000) workMs.clear();
      if (workMs.size === 0) secondMs = begunMs;
      const spentMs = count(workMs, site, performance.now() - begunMs);
      if (spentMs < MAX_WORK_MS || pausedSites.has(site)) return;
      workMs.delete(site);
      pausedSites.add(site);
      const paused = ofSite(site);
      for (const each of paused) each.pause();
      // The next ones are read first: otherwise the same ones would use up the time again.
      const first = paused[paused.indexOf(webSocket) + 1];
      const resume = () => {
        pausedSites.delete(site);
        const all = ofSite(site);
        const next = first ? Math.max(0, all.indexOf(first)) : 0;
        for (const each of [...all.slice(next), ...all.slice(0, next)]) each.resume();
      };
      setTimeout(resume, Math.min(spentMs, MAX_PAUSE_MS)).unref();
    });
  };
  const accept = ({ request, socket, head, ip }: Upgrade, protocol: Protocol, serve: (socket: WebSocket) => void) =>
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      networks.set(webSocket, siteOf(networkOf(ip)));
      watchEnd(webSocket, protocol);
      serve(webSocket);
      limitWork(webSocket);
    });
  const refuseConnection = (webSocket: WebSocket) => {
    cutFloods(webSocket, maxMessagesPerS);
    endSocket(webSocket, 'connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
    setTimeout(() => webSocket.terminate(), GOODBYE_MS).unref();
  };

  return {
    streams,
    start: feed.start,
    async stop() {
      isDraining = true;
      const closed = closeAllGracefully(sockets, { spreadMs: DRAIN_SPREAD_MS, goodbyeMs: GOODBYE_MS, random });
      await Promise.all([closed, streams.stop(DRAIN_SPREAD_MS)]);
      watch.stop();
      await feed.stop();
    },
    /** Whether a request is an upgrade to a realtime protocol; any other upgrade is handled as an ordinary request. */
    isUpgrade: (request: IncomingMessage) =>
      request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && PATHS.has(pathOf(request)),
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      endOnError(socket);
      const ip = context.clientIp(request);
      const slot = reserveIp(ip);
      const release = slot ?? reserveRefusal(ip);
      if (!release) return socket.destroy();
      socket.once('close', release);
      if (isDraining) return refuseUpgrade(socket, unavailable('The gateway stops; another one takes over.'));
      const upgrade = { request, socket, head, ip };
      if (pathOf(request) === GRAPHQL_PATH)
        return accept(
          upgrade,
          'graphql-ws',
          slot ? (webSocket) => openGraphqlWs(webSocket, request) : refuseConnection,
        );
      const handshake = channel.read(request.url ?? '');
      if ('refused' in handshake) return refuseUpgrade(socket, refusalOf(handshake.refused));
      // The key is a part of the URL, which may be long.
      const client = { ...handshake, apikey: detached(handshake.apikey), ip };
      accept(upgrade, 'channel', slot ? (webSocket) => channel.serve(webSocket, socket, client) : refuseConnection);
    },
  };
}

function endOnError(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
}

const GRAPHQL_PATH = '/graphql';
const PATHS = new Set([GRAPHQL_PATH, REALTIME_PATH]);

interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  ip: string;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function refusalOf({ status, reason }: { status: number; reason: string }): AppError {
  return status === 401 ? unauthenticated(reason) : new AppError('BAD_USER_INPUT', reason);
}

/** How long a client may take to read the response. */
const LINGER_MS = 2_000;

const HEADER_OF: Record<number, string[]> = { 401: ['WWW-Authenticate: Bearer'], 503: ['Retry-After: 1'] };

/** Responds to an upgrade with an HTTP error and closes the connection, which Node's server no longer controls. */
function refuseUpgrade(socket: Duplex, error: AppError): void {
  const headers = ['Sec-WebSocket-Version: 13', ...(HEADER_OF[error.httpStatus] ?? [])];
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.resume(); // closing with unread bytes would send a reset, and the client would lose the response
  socket.end(rawError(error, error.httpStatus, headers), () => socket.destroy());
}

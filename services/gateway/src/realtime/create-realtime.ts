import type { Service } from '@taskmesh/service';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import type { GatewayParts } from '../parts.ts';
import { createFeed } from './feed.ts';
import { createGraphqlWs } from './graphql-ws.ts';
import { createHttpStreams, type HttpStreams } from './http-streams.ts';
import { createRealtimeMetrics, type Protocol } from './metrics.ts';
import { createPhoenix, REALTIME_PATH } from './phoenix/phoenix.ts';
import { createSessionWatch } from './session-watch.ts';
import { endReasonOf, endSocket, WS_CLOSE } from './socket.ts';
import { createSocketLimits } from './socket-limits.ts';
import type { PlanDeps } from './subscription-plan.ts';
import { createSubscriptions } from './subscriptions.ts';

/** How long a drained socket may take to say goodbye. */
const GOODBYE_MS = 2_000;
/** Sockets of one gateway come back to the others within this time, not all at once. */
const DRAIN_SPREAD_MS = 1_000;

export interface Realtime extends Service {
  /** Answers `/graphql` requests that ask for a stream. */
  streams: HttpStreams;
  /** Takes a WebSocket upgrade that is for one of the feed's protocols; anything else is answered with 404. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface RealtimeDeps {
  formatErrors: PlanDeps['formatErrors'];
  trusted: TrustedDocuments;
}

/** The change feed and its protocols. */
export function createRealtime(parts: GatewayParts, { trusted, formatErrors }: RealtimeDeps): Realtime {
  const { eventLog, connections, log, clock, graph, endedSessions } = parts;
  const { maxSocketsPerUser, maxSocketsPerIp, maxMessagesPerS, maxMessageBytes } = parts.config.realtime;
  const metrics = createRealtimeMetrics(parts.metrics, clock);
  const feed = createFeed({ eventLog, tasks: connections.tasks, log, metrics });
  const subscriptions = createSubscriptions({ feed, clock, graph, formatErrors, metrics });
  const watch = createSessionWatch(endedSessions, clock);
  const limits = createSocketLimits({
    perUser: maxSocketsPerUser,
    perIp: maxSocketsPerIp,
    messagesPerS: maxMessagesPerS,
    clock,
  });
  const streamLimits = createSocketLimits({
    perUser: maxSocketsPerUser,
    perIp: maxSocketsPerIp,
    messagesPerS: maxMessagesPerS,
    clock,
  });
  const openGraphqlWs = createGraphqlWs({ parts, subscriptions, watch, limits, metrics });
  const streams = createHttpStreams({ parts, subscriptions, watch, limits: streamLimits, trusted, metrics });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // Any other protocol is taken, too, so that its client can read the code with which it is closed.
    handleProtocols: (protocols) =>
      protocols.has('graphql-transport-ws') ? 'graphql-transport-ws' : ([...protocols][0] ?? false),
  });

  const phoenix = createPhoenix({ parts, feed, watch, limits, metrics });
  let isDraining = false;
  metrics.watch({
    owners: () => feed.owners(),
    queueBytes: () => [...sockets.clients].reduce((sum, socket) => sum + socket.bufferedAmount, streams.waitingBytes()),
  });

  const accept = ({ request, socket, head }: Upgrade, protocol: Protocol, serve: (socket: WebSocket) => void) =>
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const disconnected = metrics.connected(protocol);
      webSocket.once('close', (code) => disconnected(endReasonOf(webSocket, code)));
      // Whatever is wrong with one socket ends that socket only.
      webSocket.on('error', () => webSocket.terminate());
      const release = limits.takeIp(parts.clientIp(request));
      if (!release) return endSocket(webSocket, 'connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
      webSocket.once('close', release);
      serve(webSocket);
    });

  return {
    streams,
    start: () => feed.start(),
    async stop() {
      isDraining = true;
      await Promise.all([drain(sockets), streams.stop(DRAIN_SPREAD_MS)]);
      watch.stop();
      await feed.stop();
    },
    upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy());
      if (isDraining) return refuse(socket, 503, 'The gateway stops; another one takes over.');
      const path = pathOf(request);
      const upgrade = { request, socket, head };
      if (path === '/graphql') return accept(upgrade, 'graphql-ws', (webSocket) => openGraphqlWs(webSocket, request));
      if (path !== REALTIME_PATH) return refuse(socket, 404, 'There is nothing here.');
      const options = phoenix.read(request);
      if ('refused' in options) return refuse(socket, options.refused.status, options.refused.reason);
      accept(upgrade, 'channel', (webSocket) => phoenix.opened(webSocket, options));
    },
  };
}

interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

const REFUSALS: Record<number, string> = { 401: 'UNAUTHENTICATED', 404: 'NOT_FOUND', 503: 'SERVICE_UNAVAILABLE' };

function refuse(socket: Duplex, status: number, reason: string): void {
  const body = JSON.stringify({
    message: reason,
    error: { code: REFUSALS[status] ?? 'BAD_USER_INPUT' },
  });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Sends every client to another gateway, spread over a second, and waits until they are gone. */
async function drain(sockets: WebSocketServer): Promise<void> {
  const clients = [...sockets.clients];
  await Promise.all(
    clients.map(
      (socket) =>
        new Promise<void>((resolve) => {
          if (socket.readyState === socket.CLOSED) return resolve();
          socket.once('close', () => resolve());
          const delayMs = clients.length > 1 ? Math.random() * DRAIN_SPREAD_MS : 0;
          setTimeout(() => endSocket(socket, 'restart', [WS_CLOSE.restart, 'Service restart']), delayMs);
          setTimeout(() => socket.terminate(), delayMs + GOODBYE_MS).unref();
        }),
    ),
  );
  sockets.close();
}

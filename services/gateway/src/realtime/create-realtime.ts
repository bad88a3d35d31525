import type { Service } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ServiceMap } from '@apollo/gateway';
import type { GatewayParts } from '../parts.ts';
import { createFeed } from './feed.ts';
import { createGraphqlWs } from './graphql-ws.ts';
import { createSessionWatch } from './session-watch.ts';
import type { PlanDeps } from './subscription-plan.ts';
import { createSubscriptions } from './subscriptions.ts';

const MAX_MESSAGE_BYTES = 64 * 1024;
/** How long a drained socket may take to say goodbye. */
const GOODBYE_MS = 2_000;
/** Sockets of one gateway come back to the others within this time, not all at once. */
const DRAIN_SPREAD_MS = 1_000;

export interface Realtime extends Service {
  /** Takes a WebSocket upgrade that is for one of the feed's protocols; anything else is answered with 404. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The change feed and its protocols. */
export function createRealtime(parts: GatewayParts, graph: { services: ServiceMap; formatErrors: PlanDeps['formatErrors'] }): Realtime {
  const { eventLog, connections, log, clock, supergraph, endedSessions } = parts;
  const feed = createFeed({ eventLog, tasks: connections.tasks, log });
  const subscriptions = createSubscriptions({ feed, clock, supergraph, ...graph });
  const watch = createSessionWatch(endedSessions, clock);
  const graphqlWs = createGraphqlWs(parts, subscriptions, watch);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has('graphql-transport-ws') ? 'graphql-transport-ws' : false),
  });

  return {
    start: () => feed.start(),
    async stop() {
      watch.stop();
      await drain(sockets);
      await feed.stop();
    },
    upgrade(request, socket, head) {
      const { pathname } = new URL(request.url ?? '/', 'http://gateway');
      if (pathname !== '/graphql') return refuse(socket);
      sockets.handleUpgrade(request, socket, head, (webSocket) => graphqlWs.opened(webSocket, request));
    },
  };
}

function refuse(socket: Duplex): void {
  socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
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
          setTimeout(() => socket.close(1012, 'Service restart'), delayMs);
          setTimeout(() => socket.terminate(), delayMs + GOODBYE_MS).unref();
        }),
    ),
  );
  sockets.close();
}

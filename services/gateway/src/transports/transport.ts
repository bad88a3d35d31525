import type { EndReason as SocketEnd, Heartbeats } from '@taskmesh/realtime-protocol';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { GatewayContext } from '../context.ts';
import { type Protocol, PROTOCOLS, type SubscriptionMetrics } from '../subscriptions/metrics.ts';
import type { LimitAge, SessionWatch } from './connection-ends.ts';
import type { SocketLimits } from './sockets/socket-limits.ts';

/** What every transport needs, independent of its protocol. */
export interface TransportDeps {
  context: GatewayContext;
  watch: SessionWatch;
  limits: SocketLimits;
  heartbeats: Heartbeats;
  limitAge: LimitAge;
  metrics: TransportMetrics;
}

/** Of a socket, or of a stream that ended with an error: in SSE and multipart, one stream is one connection. */
export type EndReason = SocketEnd | 'failed';

export interface ConnectionMetrics {
  /** Call the returned function when the connection closes. */
  connected(protocol: Protocol): (reason: EndReason) => void;
  /** Read at each scrape. */
  watch(figures: { queueBytes: () => number; owners: () => number }): void;
}

export type TransportMetrics = ConnectionMetrics & SubscriptionMetrics;

export function createConnectionMetrics(registry: Registry): ConnectionMetrics {
  const registers = [registry];
  const connections = new Gauge({
    name: 'taskmesh_realtime_connections',
    help: 'Open sockets and HTTP streams',
    labelNames: ['protocol'],
    registers,
  });
  const ended = new Counter({
    name: 'taskmesh_realtime_connections_ended_total',
    help: 'Connections that ended, by who or what ended them',
    labelNames: ['protocol', 'reason'],
    registers,
  });
  // So that these series exist before anything happens.
  for (const protocol of PROTOCOLS) {
    connections.set({ protocol }, 0);
    ended.inc({ protocol, reason: 'slow' }, 0);
  }

  return {
    connected(protocol) {
      connections.inc({ protocol });
      return (reason) => {
        connections.dec({ protocol });
        ended.inc({ protocol, reason });
      };
    },
    watch({ queueBytes, owners }) {
      gauge('taskmesh_realtime_queue_bytes', 'Bytes that wait for clients to read them', queueBytes, registers);
      gauge('taskmesh_realtime_owners', 'Owners whose changes somebody reads here', owners, registers);
    },
  };
}

function gauge(name: string, help: string, read: () => number, registers: Registry[]): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}

import { Counter, Gauge, type Registry } from 'prom-client';
import { PROTOCOLS, type Protocol, type SubscriptionMetrics } from '../subscriptions/metrics.ts';

/** Why a connection ended. */
export type EndReason =
  /** The client said so, or its network is gone. */
  | 'client'
  | 'lost'
  /** It came back for more than it may have, or reads or talks in a way that is not taken. */
  | 'slow'
  | 'connection_limit'
  | 'message_rate'
  | 'bad_message'
  | 'silent'
  /** No token that counts, or none any more. */
  | 'unauthorized'
  | 'session_ended'
  /** One stream is one connection in SSE and multipart: it ended with an error. */
  | 'failed'
  | 'restart'
  /** A service stays away without which an event is not whole. */
  | 'unavailable'
  | 'error';

/** What the connections of all protocols count. */
export interface ConnectionMetrics {
  /** Call what it returns when the connection is closed. */
  connected(protocol: Protocol): (reason: EndReason) => void;
  /** Asked when somebody looks. */
  watch(figures: { queueBytes: () => number; owners: () => number }): void;
}

/** What a transport counts. */
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
  // So that nothing is absent before it first happens.
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

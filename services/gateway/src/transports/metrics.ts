import { Counter, Gauge, type Registry } from 'prom-client';
import { PROTOCOLS, type Protocol, type SubscriptionMetrics } from '../subscriptions/metrics.ts';

export type EndReason =
  /** The client closed it, or its network failed. */
  | 'client'
  | 'lost'
  /** The client exceeded a limit, read or sent too slowly, or sent something invalid. */
  | 'slow'
  | 'connection_limit'
  | 'message_rate'
  | 'bad_message'
  | 'silent'
  /** The token is missing or invalid, or its session has ended. */
  | 'unauthorized'
  | 'session_ended'
  /** A stream ended with an error. In SSE and multipart, one stream is one connection. */
  | 'failed'
  | 'restart'
  /** REALTIME_MAX_CONNECTION_AGE_S */
  | 'max_age'
  /** A service that is needed to complete an event stays unavailable. */
  | 'unavailable'
  | 'error';

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

import type { TaskChanged } from '@taskmesh/events';
import { createLatencyHistogram, type Clock } from '@taskmesh/service';
import { activeSpan } from '@taskmesh/telemetry';
import { Counter, Gauge, type Registry } from 'prom-client';

export type Protocol = 'graphql-ws' | 'sse' | 'multipart' | 'channel';
const PROTOCOLS: Protocol[] = ['graphql-ws', 'sse', 'multipart', 'channel'];

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

/** Why a subscription ended, or could not begin, that its client wanted. */
export type FailureReason = 'cursor_expired' | 'graph_changed' | 'subscription_limit' | 'unavailable' | 'refused';

/** What the feed of a gateway counts. */
export interface FeedMetrics {
  /** A change that somebody here reads: came off the event log, or had to be asked for. */
  arrived(change: TaskChanged, way: 'event_log' | 'gap_fill'): void;
  /** Changes were missing, and were asked for. */
  gapFilled(): void;
  /** A subscriber came with a cursor. */
  resumed(outcome: 'resumed' | 'expired'): void;
  replayed(count: number): void;
}

/** What its protocols count. */
export interface RealtimeMetrics extends FeedMetrics {
  /** Call what it returns when the connection is closed. */
  connected(protocol: Protocol): (reason: EndReason) => void;
  subscribed(protocol: Protocol): () => void;
  /** The subscription was there since `since` (Unix milliseconds): what was committed before is a replay, and not counted. */
  delivered(protocol: Protocol, change: TaskChanged, since: number): void;
  failed(protocol: Protocol, reason: FailureReason): void;
  /** Asked when somebody looks. */
  watch(figures: { queueBytes: () => number; owners: () => number }): void;
}

export function createRealtimeMetrics(registry: Registry, clock: Clock): RealtimeMetrics {
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
  const subscriptions = new Gauge({
    name: 'taskmesh_realtime_subscriptions',
    help: 'Subscriptions and joined channels that run',
    labelNames: ['protocol'],
    registers,
  });
  const failures = new Counter({
    name: 'taskmesh_realtime_subscriptions_failed_total',
    help: 'Subscriptions that were refused, or ended with an error',
    labelNames: ['protocol', 'reason'],
    registers,
  });
  const resumes = new Counter({
    name: 'taskmesh_realtime_resumes_total',
    help: 'Subscriptions that came with a cursor, by whether it could be used',
    labelNames: ['outcome'],
    registers,
  });
  const replays = new Counter({
    name: 'taskmesh_realtime_replayed_changes_total',
    help: 'Changes that were read from the log for subscribers that came back',
    registers,
  });
  const gapFills = new Counter({
    name: 'taskmesh_realtime_gap_fills_total',
    help: 'Times that changes were missing and asked for',
    registers,
  });
  const delivery = createLatencyHistogram<'protocol'>(registry, {
    name: 'taskmesh_realtime_delivery_latency_seconds',
    help: 'From the commit of a change until it was written to a socket, for subscriptions that were there at the time',
  });
  const arrival = createLatencyHistogram<'way'>(registry, {
    name: 'taskmesh_realtime_arrival_latency_seconds',
    help: 'From the commit of a change until it arrived at this gateway, by how it came',
  });
  const observe = {
    'graphql-ws': delivery.observer({ protocol: 'graphql-ws' }),
    sse: delivery.observer({ protocol: 'sse' }),
    multipart: delivery.observer({ protocol: 'multipart' }),
    channel: delivery.observer({ protocol: 'channel' }),
  };
  const observeArrival = {
    event_log: arrival.observer({ way: 'event_log' }),
    gap_fill: arrival.observer({ way: 'gap_fill' }),
  };
  // So that nothing is absent before it first happens.
  for (const protocol of PROTOCOLS) {
    connections.set({ protocol }, 0);
    subscriptions.set({ protocol }, 0);
    ended.inc({ protocol, reason: 'slow' }, 0);
  }
  for (const outcome of ['resumed', 'expired']) resumes.inc({ outcome }, 0);

  const committedAt = createCommitTime();

  return {
    connected(protocol) {
      connections.inc({ protocol });
      return (reason) => {
        connections.dec({ protocol });
        ended.inc({ protocol, reason });
      };
    },
    subscribed(protocol) {
      subscriptions.inc({ protocol });
      return () => subscriptions.dec({ protocol });
    },
    delivered(protocol, change, since) {
      const at = committedAt(change);
      if (at < since) return;
      observe[protocol]((clock.now() - at) / 1000);
      traceDelivery(protocol);
    },
    failed: (protocol, reason) => failures.inc({ protocol, reason }),
    arrived: (change, way) => observeArrival[way]((clock.now() - committedAt(change)) / 1000),
    gapFilled: () => gapFills.inc(),
    resumed: (outcome) => resumes.inc({ outcome }),
    replayed: (count) => replays.inc(count),
    watch({ queueBytes, owners }) {
      gauge('taskmesh_realtime_queue_bytes', 'Bytes that wait for clients to read them', queueBytes, registers);
      gauge('taskmesh_realtime_owners', 'Owners whose changes somebody reads here', owners, registers);
    },
  };
}

export const NO_FEED_METRICS: FeedMetrics = {
  arrived: () => {},
  gapFilled: () => {},
  resumed: () => {},
  replayed: () => {},
};

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

/** The last step of a change's trace: from its arrival until it was written to a socket. */
function traceDelivery(protocol: Protocol): void {
  const arrived = activeSpan();
  arrived
    ?.child({
      name: `deliver ${protocol}`,
      startMs: arrived.startMs,
      attributes: { 'taskmesh.feed.protocol': protocol },
    })
    .end();
}

/** A change goes to many sockets in a row: its time is read once. */
function createCommitTime(): (change: TaskChanged) => number {
  let last: TaskChanged | undefined;
  let at = 0;
  return (change) => {
    if (change !== last) {
      last = change;
      at = Date.parse(change.occurredAt);
    }
    return at;
  };
}

import type { TaskChanged } from '@taskmesh/contracts';
import type { EndReason as SocketEnd } from '@taskmesh/realtime-protocol';
import { activeSpan, type Clock, createLatencyHistogram, createMeters } from '@taskmesh/service';
import { Gauge, type Registry } from 'prom-client';

export type Protocol = 'graphql-ws' | 'sse' | 'multipart' | 'channel';
const PROTOCOLS: Protocol[] = ['graphql-ws', 'sse', 'multipart', 'channel'];

/** Why a subscription could not begin, or had to end although its client wanted it. */
export type FailureReason = 'cursor_expired' | 'graph_changed' | 'subscription_limit' | 'unavailable' | 'refused';

/** Why a connection ended: a socket, or a stream (one SSE or multipart stream is one connection), which may fail with an error. */
export type EndReason = SocketEnd | 'failed';

export type RealtimeMetrics = ReturnType<typeof createRealtimeMetrics>;
export type FeedMetrics = Pick<RealtimeMetrics, 'arrived' | 'gapFilled' | 'resumed' | 'replayed'>;
export type SubscriptionMetrics = Pick<RealtimeMetrics, 'subscribed' | 'delivered' | 'failed'>;

export function createRealtimeMetrics(registry: Registry, clock: Clock) {
  const { counter, gauge } = createMeters(registry);
  const byProtocol = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['protocol'], registers: [registry] });

  const resumes = counter(
    'taskmesh_realtime_resumes_total',
    'Subscriptions that came with a cursor, by whether it could be used',
    'outcome',
  );
  const replays = counter(
    'taskmesh_realtime_replayed_changes_total',
    'Changes that were read from the log for subscribers that came back',
  );
  const gapFills = counter('taskmesh_realtime_gap_fills_total', 'Times that missing changes were fetched');
  const arrival = createLatencyHistogram(
    registry,
    'taskmesh_realtime_arrival_latency_seconds',
    'From the commit of a change until it arrived at this gateway, by how it came',
    'way',
  );
  const subscriptions = byProtocol('taskmesh_realtime_subscriptions', 'Subscriptions and joined channels that run');
  const failures = counter(
    'taskmesh_realtime_subscriptions_failed_total',
    'Subscriptions that were refused, or ended with an error',
    'protocol',
    'reason',
  );
  const delivery = createLatencyHistogram(
    registry,
    'taskmesh_realtime_delivery_latency_seconds',
    'From the commit of a change until it was written to a socket, for subscriptions that were there at the time',
    'protocol',
  );
  const connections = byProtocol('taskmesh_realtime_connections', 'Open sockets and HTTP streams');
  const ended = counter(
    'taskmesh_realtime_connections_ended_total',
    'Connections that ended, by who or what ended them',
    'protocol',
    'reason',
  );

  // So that these series exist before anything happens.
  for (const outcome of ['resumed', 'expired']) resumes.inc({ outcome }, 0);
  for (const way of ['event_log', 'gap_fill']) arrival.zero({ way });
  for (const protocol of PROTOCOLS) {
    delivery.zero({ protocol });
    subscriptions.set({ protocol }, 0);
    connections.set({ protocol }, 0);
    ended.inc({ protocol, reason: 'slow' }, 0);
  }
  const committedAt = perChange(({ occurredAt }: Pick<TaskChanged, 'occurredAt'>) => Date.parse(occurredAt));
  const secondsSince = (atMs: number) => (clock.now() - atMs) / 1_000;

  return {
    /** A change that has readers here came from the event log, or had to be fetched. */
    arrived: (change: TaskChanged, way: 'event_log' | 'gap_fill'): void =>
      arrival.observe({ way }, secondsSince(committedAt(change))),
    gapFilled: (): void => gapFills.inc(),
    resumed: (outcome: 'resumed' | 'expired'): void => resumes.inc({ outcome }),
    replayed: (count: number): void => replays.inc(count),
    subscribed(protocol: Protocol): () => void {
      subscriptions.inc({ protocol });
      return () => subscriptions.dec({ protocol });
    },
    /** `since` is when the subscription began (Unix ms): changes committed before are replays and are not measured. */
    delivered(protocol: Protocol, change: Pick<TaskChanged, 'occurredAt'>, since: number): void {
      const at = committedAt(change);
      if (at < since) return;
      delivery.observe({ protocol }, secondsSince(at));
      traceDelivery(protocol);
    },
    failed: (protocol: Protocol, reason: FailureReason): void => failures.inc({ protocol, reason }),
    /** Call the returned function when the connection closes. */
    connected(protocol: Protocol): (reason: EndReason) => void {
      connections.inc({ protocol });
      return (reason) => {
        connections.dec({ protocol });
        ended.inc({ protocol, reason });
      };
    },
    /** Read at each scrape. */
    watchOwners: (owners: () => number) =>
      void gauge('taskmesh_realtime_owners', 'Owners whose changes are read here', owners),
  };
}

/** The last step of a change's trace: from its arrival until it is written to a socket. */
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

/** A change goes to many readers in succession, so the value computed from it is kept until the next change. */
export function perChange<Change, Value>(compute: (change: Change) => Value): (change: Change) => Value {
  let last: { change: Change; value: Value } | undefined;
  return (change) => {
    if (last?.change !== change) last = { change, value: compute(change) };
    return last.value;
  };
}

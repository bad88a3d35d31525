import type { TaskChanged } from '@taskmesh/contracts';
import { createLatencyHistogram, type Clock, activeSpan } from '@taskmesh/service';
import { Counter, Gauge, type Registry } from 'prom-client';
import { commitTime, perChange } from '../feed/metrics.ts';

export type Protocol = 'graphql-ws' | 'sse' | 'multipart' | 'channel';
export const PROTOCOLS: Protocol[] = ['graphql-ws', 'sse', 'multipart', 'channel'];

/** Why a subscription that its client wanted could not begin or had to end. */
export type FailureReason = 'cursor_expired' | 'graph_changed' | 'subscription_limit' | 'unavailable' | 'refused';

export interface SubscriptionMetrics {
  subscribed(protocol: Protocol): () => void;
  /** `since` is when the subscription began (Unix ms): changes committed before are replays and are not measured. */
  delivered(protocol: Protocol, change: Pick<TaskChanged, 'occurredAt'>, since: number): void;
  failed(protocol: Protocol, reason: FailureReason): void;
}

export function createSubscriptionMetrics(registry: Registry, clock: Clock): SubscriptionMetrics {
  const registers = [registry];
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
  const delivery = createLatencyHistogram<'protocol'>(registry, {
    name: 'taskmesh_realtime_delivery_latency_seconds',
    help: 'From the commit of a change until it was written to a socket, for subscriptions that were there at the time',
  });
  const observe = {
    'graphql-ws': delivery.observer({ protocol: 'graphql-ws' }),
    sse: delivery.observer({ protocol: 'sse' }),
    multipart: delivery.observer({ protocol: 'multipart' }),
    channel: delivery.observer({ protocol: 'channel' }),
  };
  // So that these series exist before anything happens.
  for (const protocol of PROTOCOLS) subscriptions.set({ protocol }, 0);
  const committedAt = perChange(commitTime);

  return {
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

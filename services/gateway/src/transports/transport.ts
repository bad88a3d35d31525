import type { Heartbeats } from '@taskmesh/realtime-protocol';
import type { GatewayContext } from '../context.ts';
import type { TakePlace } from '../http/client-connections.ts';
import type { ConnectionMetrics, SubscriptionMetrics } from '../realtime-metrics.ts';
import type { LimitAge, SessionWatch } from './connection-ends.ts';

/** What every transport needs, independent of its protocol. */
export interface TransportDeps {
  context: GatewayContext;
  watch: SessionWatch;
  /** Reserves one of a user's connections; undefined when there are too many. Returns how to release it. */
  takeUser: TakePlace;
  heartbeats: Heartbeats;
  limitAge: LimitAge;
  metrics: TransportMetrics;
}

export type TransportMetrics = ConnectionMetrics & SubscriptionMetrics;

import type { Heartbeats, LimitAge } from '@taskmesh/realtime-protocol';
import type { GatewayContext } from '../context.ts';
import type { ReserveSlot } from '../http/client-connections.ts';
import type { FeedMetrics, RealtimeMetrics } from '../realtime-metrics.ts';
import type { SessionWatch } from './session-watch.ts';

/** What every transport needs, independent of its protocol. */
export interface TransportDeps {
  context: GatewayContext;
  watch: SessionWatch;
  /** Reserves one of a user's connections. Returns a function that releases it; undefined if there are too many. */
  reserveUser: ReserveSlot;
  heartbeats: Heartbeats;
  limitAge: LimitAge;
  metrics: TransportMetrics;
}

export type TransportMetrics = Omit<RealtimeMetrics, keyof FeedMetrics>;

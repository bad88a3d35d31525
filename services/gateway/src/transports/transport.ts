import type { GatewayContext } from '../context.ts';
import type { LimitAge } from './connection-age.ts';
import type { Heartbeats } from '@taskmesh/realtime-protocol';
import type { TransportMetrics } from './metrics.ts';
import type { SessionWatch } from './sockets/session-watch.ts';
import type { SocketLimits } from './sockets/socket-limits.ts';

/** What every transport needs, whatever its protocol. */
export interface TransportDeps {
  context: GatewayContext;
  watch: SessionWatch;
  limits: SocketLimits;
  heartbeats: Heartbeats;
  limitAge: LimitAge;
  metrics: TransportMetrics;
}

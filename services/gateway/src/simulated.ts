/** The parts of the feed without servers, for a simulated world to put together. Not for production. */
export { buildSupergraph } from './graph/supergraph.ts';
export { createLiveGraph, type Graph } from './graph/graph.ts';
export type { PreparedOperation, RequestCall } from './graph/executor.ts';
export type { Caller, GatewayParts } from './parts.ts';
export { createFeed, type Feed } from './realtime/feed.ts';
export { NO_FEED_METRICS, type RealtimeMetrics } from './realtime/metrics.ts';
export { createPhoenix } from './realtime/phoenix/phoenix.ts';
export { createSessionWatch } from './realtime/session-watch.ts';
export { drainedSocket, isTooFarBehind } from './realtime/socket.ts';
export { createSocketLimits } from './realtime/socket-limits.ts';
export { createSubscriptions, type StreamEnd, type StreamSink, type Subscriptions } from './realtime/subscriptions.ts';

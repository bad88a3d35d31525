/** The parts of the feed that need no servers, for simulations. Not for production. */
export { buildSupergraph } from '../src/supergraph/supergraph.ts';
export { createLargeResponses } from '../src/supergraph/large-responses.ts';
export { createLiveGraph, type Graph } from '../src/supergraph/live-graph.ts';
export type { RequestCall } from '../src/supergraph/operation.ts';
export type { Caller, GatewayContext } from '../src/context.ts';
export { createFeed, type Feed } from '../src/feed/feed.ts';
export type { TransportMetrics } from '../src/transports/transport.ts';
export { createTasksChannel } from '../src/transports/tasks-channel.ts';
export { createSessionWatch } from '../src/transports/session-watch.ts';
export { createAccountShares } from '../src/subscriptions/account-shares.ts';
export type { StreamEnd, StreamSink } from '../src/subscriptions/stream.ts';
export { createSubscriptions, type Subscriptions } from '../src/subscriptions/subscriptions.ts';

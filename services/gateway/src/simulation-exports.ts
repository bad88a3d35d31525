/** The parts of the feed that need no servers, for simulations. Not for production. */
export { buildSupergraph } from './supergraph/supergraph.ts';
export { createLargeResponses } from './supergraph/large-responses.ts';
export { createLiveGraph, type Graph } from './supergraph/live-graph.ts';
export { createParts, type PreparedOperation, type RequestCall } from './supergraph/operation.ts';
export type { Caller, GatewayContext } from './context.ts';
export { createFeed, type Feed } from './feed/feed.ts';
export type { TransportMetrics } from './transports/transport.ts';
export { createTasksChannel } from './transports/tasks-channel.ts';
export { createSessionWatch } from './transports/connection-ends.ts';
export { createAccountShares } from './subscriptions/account-shares.ts';
export type { StreamEnd, StreamSink } from './subscriptions/stream.ts';
export { createSubscriptions, type Subscriptions } from './subscriptions/subscriptions.ts';

import type { Identity } from '@taskmesh/identity';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { startFieldTrace } from './inline-trace/field-trace.ts';
import type { SubgraphCall } from './subgraph.ts';

const GATEWAY = 'gateway';
/** The header by which a router asks for federated tracing, and the only form of it that there is. */
const INCLUDE_TRACE = 'apollo-federation-include-trace';
const TRACE_FORM = 'ftv1';

/** Other services have internal calls of their own. */
export function isForGraph(identity: Identity): boolean {
  return identity.role !== 'service' || identity.name === GATEWAY;
}

/** On whose behalf a request over HTTP is answered. */
export function callOf({ headers, socket }: IncomingMessage, identity: Identity): SubgraphCall {
  return {
    identity,
    requestId: one(headers['x-request-id']) ?? randomUUID(),
    traceparent: one(headers.traceparent),
    isCancelled: () => socket.destroyed,
    trace: one(headers[INCLUDE_TRACE]) === TRACE_FORM ? startFieldTrace() : undefined,
  };
}

export function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

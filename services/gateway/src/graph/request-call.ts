import type { Identity } from '@taskmesh/identity';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { EndedSessions } from '../auth/ended-sessions.ts';
import type { RequestCall } from './executor.ts';

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's trace context, when it is one. */
export function traceparentOf({ headers }: IncomingMessage): string | undefined {
  return asTraceparent(headers.traceparent);
}

/** What a client sent, when it is a trace context. */
export function asTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}

/** Makes the call of one operation out of its HTTP request. */
export function createRequestCall(deps: {
  clientIp: (request: IncomingMessage) => string;
  endedSessions: EndedSessions;
}) {
  const onEndedSessions: RequestCall['onEndedSessions'] = (sessions) => deps.endedSessions.announce(sessions);
  return ({ raw, id }: FastifyRequest, identity: Identity): RequestCall => ({
    identity,
    requestId: id,
    traceparent: traceparentOf(raw),
    ip: deps.clientIp(raw),
    onEndedSessions,
  });
}

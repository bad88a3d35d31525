import { MAX_CLIENT_LENGTH, type Identity } from '@taskmesh/identity';
import { activeSpan, detached, parseTraceparent, type Tracing } from '@taskmesh/service';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestCall } from '../supergraph/operation.ts';

export function traceparentOf({ headers }: IncomingMessage): string | undefined {
  return asTraceparent(headers.traceparent);
}

/** The value as a trace context, if it is a valid one. */
export function asTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && parseTraceparent(value) ? value : undefined;
}

/** Whether a page of another origin makes the browser send this. */
export function isOfAnotherSite({ 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return site !== undefined && site !== 'none' && site !== 'same-origin';
}

/** The client's user agent, cut to the length that is stored. */
function clientOf({ headers }: IncomingMessage): string | undefined {
  const agent = headers['user-agent'];
  if (agent === undefined || agent.length <= MAX_CLIENT_LENGTH) return agent;
  return detached(agent.slice(0, MAX_CLIENT_LENGTH));
}

const departures = new WeakMap<Socket, AbortSignal>();

/** Aborted when the client's connection closes: no one is left to read responses. */
function disconnectSignalOf({ socket }: IncomingMessage): AbortSignal {
  const known = departures.get(socket);
  if (known) return known;
  const controller = new AbortController();
  departures.set(socket, controller.signal);
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  return controller.signal;
}

/** The client of a request: its address, its user agent, and the signal of its disconnection. */
export function connectionOf(from: { clientIp(request: IncomingMessage): string }, request: IncomingMessage) {
  return { ip: from.clientIp(request), client: clientOf(request), signal: disconnectSignalOf(request) };
}

export function createRequestCall(deps: {
  clientIp: (request: IncomingMessage) => string;
  endedSessions: { announce: RequestCall['onEndedSessions'] };
  tracing: Tracing;
}) {
  const onEndedSessions: RequestCall['onEndedSessions'] = (sessions) => deps.endedSessions.announce(sessions);
  return ({ raw, id }: Pick<FastifyRequest, 'raw' | 'id'>, identity: Identity): RequestCall => {
    const { ip, client, signal } = connectionOf(deps, raw);
    const traceparent = activeSpan()?.traceparent ?? deps.tracing.unrecorded(traceparentOf(raw));
    return { identity, requestId: id, traceparent, ip, client, signal, onEndedSessions };
  };
}

/** All values of the header `name` (in lower case). Node keeps only the first value of some repeated headers. */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

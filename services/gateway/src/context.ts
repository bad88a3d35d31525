import type { AccessTokenClaims, Identity } from '@taskmesh/identity';
import type { KeyValue } from '@taskmesh/key-value';
import type { EventLog } from '@taskmesh/event-log';
import type { Clock, Log, Tracing } from '@taskmesh/service';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Registry } from 'prom-client';
import type { AccessKeys, VerifyingKey } from './auth/access-keys.ts';
import type { EndedSessions } from './auth/sessions.ts';
import type { Operators } from './auth/operators.ts';
import type { GatewayConfig } from './config.ts';
import type { Connections } from './connections/connections.ts';
import type { RequestCall } from './supergraph/operation.ts';
import type { LiveGraph } from './supergraph/live-graph.ts';
import { headerValues } from './http/client.ts';
import { asClientRequest } from './http/client-request.ts';
import type { Memory } from './http/memory.ts';
import type { BlockingWork } from './supergraph/blocking-work.ts';
import type { LargeResponses } from './supergraph/large-responses.ts';
import type { Admission } from './graphql/admission.ts';

/** A token's claims, and the key that verified them; personal tokens have none. */
export type CallerClaims = AccessTokenClaims & { key: VerifyingKey | undefined };

export interface User {
  kind: 'user';
  claims: CallerClaims;
  identity: Extract<Identity, { role: 'user' }>;
}

/** The caller, as far as the token identifies it. */
export type Caller =
  | { kind: 'anonymous' }
  | User
  /** There was a token (or something in its place), but it is not valid. */
  | { kind: 'invalid' };

/** What every adapter (REST, GraphQL, realtime) uses. */
export interface GatewayContext {
  config: GatewayConfig;
  log: Log;
  clock: Clock;
  metrics: Registry;
  tracing: Tracing;
  connections: Connections;
  keyValue: KeyValue;
  eventLog: EventLog;
  accessKeys: AccessKeys;
  endedSessions: EndedSessions;
  /** The graph currently served; it may be replaced while the gateway runs. */
  graph: LiveGraph;
  /** Admits clients' operations: trusted and persisted documents, limits, forbidden fields, variables. */
  admission: Admission;
  /**
   * `values` are all `Authorization` headers of the request (see `headerValues`); more than one is invalid.
   * @throws AppError SERVICE_UNAVAILABLE while nothing can be verified yet
   */
  authenticate(values: readonly string[], ipOf: () => string): Promise<Caller>;
  /** For a bare token, as sent over sockets. With `graceS`, it may have expired up to that many seconds ago. */
  authenticateToken(token: string, options: { ipOf: () => string; graceS?: number }): Promise<Caller>;
  /** Recognizes operators by BACKUP_TOKEN or, without one, by where the request comes from, or this machine's token. */
  operators: Operators;
  /** Counts and limits the memory that clients occupy. */
  memory: Memory;
  blockingWork: BlockingWork;
  largeResponses: LargeResponses;
  /** The client's address; forwarding headers count only from trusted proxies. */
  clientIp(request: IncomingMessage): string;
  /** The call for one operation of an HTTP request. */
  requestCall(request: Pick<FastifyRequest, 'raw' | 'id'>, identity: Identity): RequestCall;
}

/** Returns the caller of a request. @throws AppError SERVICE_UNAVAILABLE while nothing can be verified yet */
export async function callerOf(
  { authenticate, clientIp }: Pick<GatewayContext, 'authenticate' | 'clientIp'>,
  request: IncomingMessage,
): Promise<Caller> {
  const caller = await authenticate(headerValues(request, 'authorization'), () => clientIp(request));
  if (caller.kind === 'user') asClientRequest(request).account = caller.identity.userId;
  return caller;
}

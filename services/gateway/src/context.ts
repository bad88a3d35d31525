import type { AccessTokenClaims, Identity } from '@taskmesh/identity';
import type { KeyValue } from '@taskmesh/key-value';
import type { EventLog } from '@taskmesh/messaging';
import type { Clock, Log, OperatorCheck } from '@taskmesh/service';
import type { Tracing } from '@taskmesh/telemetry';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Registry } from 'prom-client';
import type { AccessKeys, VerifyingKey } from './auth/access-keys.ts';
import type { EndedSessions } from './auth/ended-sessions.ts';
import type { GatewayConfig } from './config.ts';
import type { Connections } from './connections.ts';
import type { GraphExecutor, RequestCall } from './graph/executor.ts';
import type { LiveGraph } from './graph/graph.ts';
import type { Admit } from './graphql/admission.ts';

/** What a token says, and the key that says so; a personal token has none. */
export type CallerClaims = AccessTokenClaims & { key: VerifyingKey | undefined };

/** Somebody whose token counts. */
export interface User {
  kind: 'user';
  claims: CallerClaims;
  identity: Extract<Identity, { role: 'user' }>;
}

/** Who stands behind a request, as far as its token tells. */
export type Caller =
  | { kind: 'anonymous' }
  | User
  /** There was a token (or something in its place), and it does not count. */
  | { kind: 'invalid' };

/** What every adapter (REST, GraphQL, realtime) works with. */
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
  /** What is served right now; it may be replaced while the gateway runs. */
  graph: LiveGraph;
  /** Runs on the graph of the moment: operations that were prepared on an earlier one move along. */
  executor: GraphExecutor;
  /** Lets in what a client sent: trusted and persisted documents, limits, forbidden fields, variables. @throws InvalidOperation */
  admit: Admit;
  /** `values`: every `Authorization` header of the request (see `authorizationOf`); two of them are invalid. */
  authenticate(values: readonly string[]): Promise<Caller>;
  /** A bare token, as sockets carry it. With `graceS`, one counts that expired no longer ago than so many seconds. */
  authenticateToken(token: string, options?: { graceS: number }): Promise<Caller>;
  /** By BACKUP_TOKEN; without one by where the request comes from, or this machine's token. */
  operator(request: IncomingMessage): OperatorCheck;
  /** The client's address; forwarding headers count from trusted proxies only. */
  clientIp(request: IncomingMessage): string;
  /** The call for one operation of an HTTP request. */
  requestCall(request: FastifyRequest, identity: Identity): RequestCall;
}

export { authorizationOf } from '@taskmesh/service';

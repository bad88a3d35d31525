import type { AccessTokenClaims } from '@taskmesh/identity';
import type { ErrorCode } from '@taskmesh/errors';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { StoredOperation } from './operations.ts';
import type { QueryRules } from './request/query.ts';

/** What an endpoint works with: its input, checked, and the graph on the caller's behalf. */
export interface Exchange<Body, Query> {
  body: Body;
  query: Query;
  /** The task id of the path as it was sent; empty where the path has none. */
  id: string;
  headers: IncomingHttpHeaders;
  /** @throws AppError, also for what the graph answers as an error */
  run<Variables extends object, Result>(
    operation: StoredOperation<Variables, Result>,
    variables: Variables,
  ): Promise<Result>;
}

export interface UserExchange<Body, Query> extends Exchange<Body, Query> {
  claims: AccessTokenClaims;
}

export interface Answer {
  /** Becomes JSON as it is. */
  body: object;
  /** The entity tag of the one task that the body shows; who reads it with `If-None-Match` and has it gets a 304 instead. */
  etag?: string;
  /** The query with which a list goes on, when there is more of it. */
  next?: string;
}

interface Description<Body, Query> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the prefix of the contract, as OpenAPI writes it: `{id}` is the only parameter. */
  path: string;
  /** Names the endpoint in the API description. */
  name: string;
  summary: string;
  description?: string;
  /** The endpoint is absent when the graph cannot do this. */
  needs: StoredOperation<never, unknown>;
  bodySchema?: z.ZodType<Body>;
  query?: QueryRules<Query>;
  /** Headers of the request that count here. */
  headers?: readonly ('if-match' | 'if-none-match' | 'idempotency-key')[];
  status: 200 | 201;
  /** What `status` comes with. */
  answerSchema: z.ZodType;
  /** What the example of the answer says, where the schema's own says something else. */
  exampleMessage?: string;
  /** The answer may name a `Link`. */
  isPaged?: boolean;
  /** What can go wrong besides what every endpoint of its kind has. `KEY_REUSED` is the 422. */
  errors?: readonly (ErrorCode | 'KEY_REUSED')[];
}

/** Needs a user's access token. */
export interface UserEndpoint<Body = unknown, Query = unknown> extends Description<Body, Query> {
  access: 'user';
  // A method, so that endpoints of differing inputs fit into one table: `serve` hands over what the schemas gave.
  handle(exchange: UserExchange<Body, Query>): Promise<Answer> | Answer;
}

/** Open to anybody; an access token that comes along is not looked at. */
export interface PublicEndpoint<Body = unknown, Query = unknown> extends Description<Body, Query> {
  access: 'public';
  handle(exchange: Exchange<Body, Query>): Promise<Answer> | Answer;
}

export type Endpoint = UserEndpoint | PublicEndpoint;

export const userEndpoint = <Body, Query>(endpoint: Omit<UserEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'user',
});

export const publicEndpoint = <Body, Query>(endpoint: Omit<PublicEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'public',
});

import type { AccessTokenClaims } from '@taskmesh/identity';
import type { ErrorCode } from '@taskmesh/errors';
import type { CallerOrigin, OnWorkProgress } from '@taskmesh/internal-api';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { StoredOperation } from './operations.ts';
import type { QueryRules } from './request/query.ts';

/** What goes through as it comes, and is never looked into. */
export interface Bytes<Body = Readable> {
  mediaTypes: readonly string[];
  description: string;
  /** What the entity tag of such an answer is. */
  etag: string;
  /** For the compiler only. */
  readonly type?: Body;
}

export const isBytes = (schema: z.ZodType | Bytes<unknown>): schema is Bytes<unknown> => 'mediaTypes' in schema;

/** What an endpoint works with: its input, checked, and the graph on the caller's behalf. */
export interface Exchange<Body, Query> {
  body: Body;
  query: Query;
  /** What the path's parameter says, as it was sent; empty where the path has none. */
  id: string;
  headers: IncomingHttpHeaders;
  /** From where the request came. */
  origin(): CallerOrigin;
  /** Whether nothing but the head of the answer is wanted. */
  isHead: boolean;
  /** There when the client wants to see how far the work has come. */
  onProgress: OnWorkProgress | undefined;
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
  /** Where it is another one than the endpoint's own. */
  status?: number;
  headers?: Record<string, string>;
  /** Becomes JSON as it is; a stream goes out as it comes. Null where only the head is wanted. */
  body: object | null;
  /** Beside the body on the last line, for who was told the progress. */
  inLines?: object;
  /** The entity tag of the one task that the body shows; who reads it with `If-None-Match` and has it gets a 304 instead. */
  etag?: string;
  /** The query with which a list goes on, when there is more of it. */
  next?: string;
}

interface Description<Body, Query> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix of the contract, as OpenAPI writes it, with one parameter at the most. */
  path: string;
  /** Names the endpoint in the API description. */
  name: string;
  summary: string;
  description?: string;
  /** The endpoint is absent when the graph cannot do this. */
  needs?: StoredOperation<never, unknown>;
  bodySchema?: z.ZodType<Body> | Bytes<Body>;
  query?: QueryRules<Query>;
  /** Headers of the request that count here. */
  headers?: readonly ('if-match' | 'if-none-match' | 'idempotency-key')[];
  /** 302: the answer is a `Location`, and has no body. */
  status: 200 | 201 | 302;
  /** What another `status` comes with. */
  answerSchema?: z.ZodType | Bytes;
  /** The work may last: who asks for lines is told its progress, in lines like this. */
  lineSchema?: z.ZodType;
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

/** Open to anybody (an access token that comes along is not looked at), or for operators only. */
export interface UserlessEndpoint<Body = unknown, Query = unknown> extends Description<Body, Query> {
  access: 'public' | 'operator';
  handle(exchange: Exchange<Body, Query>): Promise<Answer> | Answer;
}

export type Endpoint = UserEndpoint | UserlessEndpoint;

export const userEndpoint = <Body, Query>(endpoint: Omit<UserEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'user',
});

export const publicEndpoint = <Body, Query>(endpoint: Omit<UserlessEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'public',
});

export const operatorEndpoint = <Body, Query>(endpoint: Omit<UserlessEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'operator',
});

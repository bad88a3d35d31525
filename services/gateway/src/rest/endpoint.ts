import { type AppError, type ErrorCode, parseInput } from '@taskmesh/contracts';
import type { AccessTokenClaims } from '@taskmesh/identity';
import type { OnWorkProgress, RequestOrigin } from '@taskmesh/internal-api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { readParameters } from '../http/query-parameters.ts';

/**
 * The text of a fixed GraphQL operation, with the types of its result and variables, which exist only for the compiler.
 * Values are passed as variables only, so it is prepared once for each graph.
 */
export type StoredOperation<Result, Variables> = string & { readonly types?: (variables: Variables) => Result };

/** A body that is passed through as it is. */
export interface Bytes<Body = Readable> {
  mediaTypes: readonly string[];
  description: string;
  /** Describes the entity tag. */
  etag: string;
  /** Used by the type checker only. */
  readonly type?: Body;
}

export const isBytes = (schema: z.ZodType | Bytes<unknown>): schema is Bytes<unknown> => 'mediaTypes' in schema;

/** An endpoint's validated input, and access to the graph as the caller. */
export interface Exchange<Body, Query> {
  body: Body;
  query: Query;
  /** The path parameter as it was sent; empty if the path has none. */
  id: string;
  /** For its headers: Node joins some that are repeated. */
  raw: IncomingMessage;
  /** From where the request came. */
  origin(): RequestOrigin;
  /** Whether nothing but the head of the answer is wanted. */
  isHead: boolean;
  /** Set when the client asked for progress. */
  onProgress: OnWorkProgress | undefined;
  /** @throws AppError, also for errors in the graph's answer */
  run<Result, Variables extends object>(
    operation: StoredOperation<Result, Variables>,
    variables: Variables,
  ): Promise<Result>;
}

export interface UserExchange<Body, Query> extends Exchange<Body, Query> {
  claims: AccessTokenClaims;
}

export interface Answer {
  /** Overrides the endpoint's own. */
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a stream as it is. Null for HEAD. */
  body: object | null;
  /** Added to the body on the last line, for clients that asked for progress. */
  inLines?: object;
  /** The version of the task in the body; answers a matching `If-None-Match` with a 304. */
  etag?: string;
  /** The query of the next page, if there is one. */
  next?: string;
}

/** Sends an error to a person. */
export type ErrorPage = (reply: FastifyReply, error: AppError) => FastifyReply;

interface Description<Body, Query> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** An OpenAPI path below the contract's prefix, with at most one parameter. */
  path: string;
  /** The operation id in the API description. */
  name: string;
  summary: string;
  description?: string;
  /** The endpoint is absent if the graph does not support this operation. */
  needs?: StoredOperation<unknown, never>;
  bodySchema?: z.ZodType<Body> | Bytes<Body>;
  query?: QueryRules<Query>;
  /** The request headers that this endpoint evaluates. */
  headers?: readonly ('if-match' | 'if-none-match' | 'idempotency-key')[];
  /** 302: the answer is a `Location`, and has no body. */
  status: 200 | 201 | 302;
  /** What another `status` comes with. */
  answerSchema?: z.ZodType | Bytes;
  /** For long work: clients that ask for its progress get it in lines like this. */
  lineSchema?: z.ZodType;
  /** Replaces the message in the schema's example. */
  exampleMessage?: string;
  /** The answer may have a `Link` header. */
  isPaged?: boolean;
  /** Errors beyond those common to all endpoints of this kind. `KEY_REUSED` is the 422. */
  errors?: readonly (ErrorCode | 'KEY_REUSED')[];
  /** For an address that people's browsers are sent to: who accepts HTML gets errors as this page. */
  errorPage?: ErrorPage;
}

/** Needs a user's access token. */
export interface UserEndpoint<Body = unknown, Query = unknown> extends Description<Body, Query> {
  access: 'user';
  // A method, because its parameters are checked bivariantly: endpoints with different inputs fit into one table.
  handle(exchange: UserExchange<Body, Query>): Promise<Answer> | Answer;
}

/**
 * Open to everyone (an access token is ignored), open to everyone and run as the user if there is a valid access token
 * (`optional`), to operators only, or to callers from where an operator's token would count.
 */
export interface UserlessEndpoint<Body = unknown, Query = unknown> extends Description<Body, Query> {
  access: 'public' | 'optional' | 'operator' | 'operators-place';
  handle(exchange: Exchange<Body, Query>): Promise<Answer> | Answer;
}

export type Endpoint = UserEndpoint | UserlessEndpoint;

export const userEndpoint = <Body, Query>(endpoint: Omit<UserEndpoint<Body, Query>, 'access'>): Endpoint => ({
  ...endpoint,
  access: 'user',
});

const endpointFor =
  (access: UserlessEndpoint['access']) =>
  <Body, Query>(endpoint: Omit<UserlessEndpoint<Body, Query>, 'access'>): Endpoint => ({ ...endpoint, access });

export const publicEndpoint = endpointFor('public');
export const optionalUserEndpoint = endpointFor('optional');
export const operatorEndpoint = endpointFor('operator');
export const operatorsPlaceEndpoint = endpointFor('operators-place');

export interface QueryRules<Query> {
  schema: z.ZodObject;
  /** @throws AppError for invalid parameters */
  read(request: Pick<FastifyRequest, 'url' | 'query'>): Query;
}

/** Checks each parameter by its schema and allows it once; unknown ones are ignored. */
export function checkedQuery<Schema extends z.ZodObject>(schema: Schema): QueryRules<z.output<Schema>> {
  const known = new Set(Object.keys(schema.shape));
  return { schema, read: ({ url }) => parseInput(schema, readParameters(url, known)) };
}

/** The text of a query, in the order of its parameters; those without a value are left out. */
export function queryText(parameters: Record<string, string | number | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) text.append(name, String(value));
  return text.toString();
}

/** The raw query, for another reader. `schema` is only for the API description. */
export function wholeQuery(schema: z.ZodObject): QueryRules<string> {
  return { schema, read: ({ url }) => url.slice(url.indexOf('?') + 1 || url.length) };
}

import { type AppError, type ErrorCode, parseInput } from '@taskmesh/contracts';
import type { AccessTokenClaims } from '@taskmesh/identity';
import type { OnWorkProgress, RequestOrigin } from '@taskmesh/internal-api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { readParameters } from '../http/query-parameters.ts';
import { messageOnly } from './schemas/responses.ts';

/**
 * The text of a fixed GraphQL operation, with the types of its result and variables, which exist only for the compiler.
 * Values are passed as variables only, so it is prepared once for each graph.
 */
export type StoredOperation<Result, Variables> = string & { readonly types?: (variables: Variables) => Result };

/** A body that is passed through unchanged. */
export interface Bytes<Body = Readable> {
  mediaTypes: readonly string[];
  description: string;
  /** Describes the entity tag. */
  etag: string;
  /** Used by the type checker only. */
  readonly type?: Body;
}

export const isBytes = (schema: z.ZodType | Bytes<unknown>): schema is Bytes<unknown> => 'mediaTypes' in schema;

/** Who may call: `optional` is open to everyone, and runs as the user if there is a valid access token; `public` ignores tokens. */
export type Access = 'user' | 'optional' | 'public' | 'operator' | 'operators-place';

/** An endpoint's validated input, and access to the graph as the caller. */
export interface Exchange<Body = unknown, Query = unknown, Of extends Access = Access> {
  body: Body;
  query: Query;
  /** The path parameter as it was sent; empty if the path has none. */
  id: string;
  claims: Of extends 'user' ? AccessTokenClaims : unknown;
  /** For its raw headers: Node joins some that are repeated. */
  raw: IncomingMessage;
  /** Where the request came from. */
  origin(): RequestOrigin;
  /** Whether only the head of the response is wanted. */
  isHead: boolean;
  /** Set when the client asked for progress. */
  onProgress: OnWorkProgress | undefined;
  /** @throws AppError, also for errors in the graph's result */
  run<Result, Variables extends object>(
    operation: StoredOperation<Result, Variables>,
    variables: Variables,
  ): Promise<Result>;
}

export interface EndpointResponse<Result extends object = object> {
  /** Overrides the endpoint's own. */
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a stream as it is. Null for HEAD. */
  body: Result | Readable | null;
  /** Added to the body on the last line, for clients that asked for progress. */
  lastLine?: object;
  /** The version of the task in the body; a matching `If-None-Match` gets a 304. */
  etag?: string;
  /** The query of the next page, if there is one. */
  next?: string;
}

/** The body of a success: a message, and more fields if there are any. */
export const successResponse = <More extends object>(message: string, more?: More) => ({
  body: { success: true as const, message, ...(more as More) },
});

/** The body of a list, with the number of its elements; `thing` names one of them. */
export const listResponse = <Each>(thing: string, data: Each[]) =>
  successResponse(`${data.length} ${thing}${data.length === 1 ? '' : 's'} found.`, { count: data.length, data });

/** Sends an error to a person. */
export type ErrorPage = (reply: FastifyReply, error: AppError) => FastifyReply;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Endpoint<Body = unknown, Query = unknown, Result extends object = object, Of extends Access = Access> {
  access: Of;
  method: Method;
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
  /** 200 unless given. 302: the response has a `Location` and no body. */
  status?: 200 | 201 | 302;
  /** The body of a response with any other `status` than 302. */
  responseSchema?: z.ZodType<Result> | Bytes;
  /** For long work: clients that request its progress get it in lines of this form. */
  lineSchema?: z.ZodType;
  /** The response may have a `Link` header. */
  isPaged?: boolean;
  /** Errors beyond those common to all endpoints of this kind. `KEY_REUSED` is the 422. */
  errors?: readonly (ErrorCode | 'KEY_REUSED')[];
  /** For an address that people's browsers are sent to: clients that accept HTML get errors as this page. */
  errorPage?: ErrorPage;
  // A method, because its parameters are checked bivariantly: endpoints with different inputs fit into one table.
  handle(
    exchange: Exchange<Body, Query, Of>,
  ): Promise<EndpointResponse<NoInfer<Result>>> | EndpointResponse<NoInfer<Result>>;
}

type Route = `${Method} /${string}`;
type Placed = 'access' | 'method' | 'path';

export function endpoint<Of extends Access, Body, Query, Result extends object>(
  access: Of,
  route: Route,
  given: Omit<Endpoint<Body, Query, Result, Of>, Placed>,
): Endpoint {
  const [method, path] = route.split(' ') as [Method, string];
  return { access, method, path, ...given };
}

interface Action<Body, Query, Of extends Access> extends Omit<
  Endpoint<Body, Query, { message: string }, Of>,
  Placed | 'status' | 'responseSchema' | 'handle'
> {
  message: string;
  handle(exchange: Exchange<Body, Query, Of>): Promise<unknown>;
}

/** An endpoint that responds with `says` when it is done. */
export function action<Of extends Access, Body, Query>(
  access: Of,
  route: Route,
  { message, handle, ...given }: Action<Body, Query, Of>,
): Endpoint {
  return endpoint(access, route, {
    ...given,
    responseSchema: messageOnly,
    handle: async (exchange: Exchange<Body, Query, Of>) => {
      await handle(exchange);
      return { body: { message } };
    },
  });
}

export interface QueryRules<Query> {
  schema: z.ZodObject;
  /** @throws AppError for invalid parameters */
  read(request: Pick<FastifyRequest, 'url' | 'query'>): Query;
}

/** Validates each parameter with its schema and allows it only once; unknown ones are ignored. */
export function checkedQuery<Schema extends z.ZodObject>(schema: Schema): QueryRules<z.output<Schema>> {
  const known = new Set(Object.keys(schema.shape));
  return { schema, read: ({ url }) => parseInput(schema, readParameters(url, known)) };
}

/** A query string with the parameters in the given order; undefined ones are left out. */
export function queryText(parameters: Record<string, string | number | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) text.append(name, String(value));
  return text.toString();
}

import type { ErrorCode } from '@taskmesh/contracts';
import type { GraphQLDataSource } from '@apollo/gateway';
import type { Incompleteness, PreparedOperation, Resized } from '@taskmesh/federation';
import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql';

/** GraphQL's own codes, in addition to those of `@taskmesh/contracts`. */
export const GRAPHQL_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
] as const;

export type GraphQLCode = ErrorCode | (typeof GRAPHQL_CODES)[number];

/** The caller of an operation, and how to trace it. One per operation: it changes while the operation runs. */
export interface RequestCall {
  /** A mutation that opens a session replaces this with the new session's user, for the fetches after it. */
  identity: Identity;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** The client's address; only auth and tasks receive it. */
  readonly ip: string;
  /** The client's user agent; only auth receives it. */
  readonly client?: string | undefined;
  /** How long the caller waits, in ms. @default 10_000; longer for mutations of services that need it */
  readonly limitMs?: number;
  /** Aborted when the client has gone: ends queries, and mutations that have not been sent yet. */
  readonly signal?: AbortSignal;
  onEndedSessions(sessions: EndedSession[]): void;
}

/** From this cost on, results may have megabytes. */
export const LARGE_COST = 500;

/** An operation that may run, with coerced variables. */
export interface AdmittedOperation {
  operation: PreparedOperation;
  variables: Record<string, unknown>;
  /** With these variables. */
  cost: number;
}

export interface OperationResult {
  data: Record<string, unknown> | null;
  /** Errors with public codes only; absent if there are none. */
  errors?: GraphQLFormattedError[];
}

/** Runs operations on the graph, independent of Apollo Server and HTTP. */
export interface GraphExecutor {
  /** The API schema, as clients see it. */
  readonly schema: GraphQLSchema;
  /**
   * Parses, validates and plans a query or mutation; equal texts yield the same object. Applies no limits on depth or cost,
   * because it is for our own documents. Those of clients go through admission.
   * @throws InvalidOperation
   */
  prepare(source: string): PreparedOperation;
  /**
   * Runs a query or mutation. Never rejects: failures are in `errors`, ready for the client. Each call needs its own
   * `RequestCall`.
   */
  run(admitted: AdmittedOperation, call: RequestCall): Promise<OperationResult>;
}

export interface EngineResult {
  data: Record<string, unknown> | null;
  errors?: readonly unknown[];
  /** What services omitted without reporting an error. */
  incomplete?: readonly Incompleteness[] | undefined;
}

/** Runs one query or mutation, with coerced variables. */
export type RunOperation = (variables: Record<string, unknown>, run: OperationRun) => Promise<EngineResult>;

/** Plans an operation, at once or at its first run. */
export type Engine = (operation: PreparedOperation, onResize: Resized) => RunOperation;

/** The executor's context for one operation. */
export interface OperationRun {
  call: RequestCall;
  /** In milliseconds of `monotonicClock`. Requests without a response by then are abandoned. */
  deadline: number;
  mutation: boolean;
  /** @default 0 */
  cost?: number;
  /**
   * Counts a response of this size until the operation is over.
   * @throws AppError if there is no room for it, unless it answers a change that was made
   */
  reserveLarge?: (bytes: number, isMade?: boolean) => void;
  /** Call this before a change is sent: its response is accepted in any case. @throws AppError if there is no room for one */
  requireRoom?: () => void;
  /** A mutation of @apollo/gateway got no data: the result is null, and the remaining ones must not run. */
  hasFailed?: boolean;
  /** Set if exactly one client waits for the result. Events have none: several clients may wait for them. */
  signal?: AbortSignal | undefined;
}

/** Sends requests to a service of the graph. @apollo/gateway uses `process`. */
export interface GraphSource extends GraphQLDataSource {
  execute(request: SubgraphRequest, run: OperationRun): Promise<SourceResponse>;
}

export type SourceResponse = Pick<SubgraphResult, 'errors'> & { data: NonNullable<SubgraphResult['data']> | null };

/** By service name. */
export type GraphSources = Readonly<Record<string, GraphSource>>;

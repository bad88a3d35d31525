import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import {
  GraphQLError,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { GraphQLCode } from './client-errors.ts';

/** On whose behalf, and under which names, an operation runs. One for each operation: it changes while the operation runs. */
export interface RequestCall {
  /** A mutation that gives a session switches this to the new session's user, for the fetches that follow it. */
  identity: Identity;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** The client's address; auth alone is told. */
  readonly ip: string;
  /** What the client's program calls itself; auth alone is told. */
  readonly client?: string | undefined;
  /** Its client has gone: queries end, and mutations that were not sent. */
  readonly signal?: AbortSignal;
  /** Sessions that ended by this operation. */
  onEndedSessions(sessions: EndedSession[]): void;
}

/** A document that was parsed and validated once: keep it, run it often. Its plan is made at the first run and kept with it. */
export interface PreparedOperation {
  readonly source: string;
  /** What it was validated against: it belongs to the graph of this schema. */
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationName: string | undefined;
}

export interface OperationResult<Data = Record<string, unknown> | null> {
  data: Data;
  /** With `extensions.code` out of the public list only; absent when there are none. */
  errors?: GraphQLFormattedError[];
}

/** Why a request does not run. Each of `errors` is in the client's form, with its code. */
export class InvalidOperation extends Error {
  override readonly name = 'InvalidOperation';
  /** The first error's. */
  readonly code: GraphQLCode;
  readonly errors: readonly GraphQLError[];
  /** Set when the request itself is wrong; what is wrong with its document or variables has the status that GraphQL over HTTP gives it. */
  readonly httpStatus: number | undefined;

  /** `code`: of the errors that have none of their own. */
  constructor(code: GraphQLCode, errors: readonly GraphQLError[], httpStatus?: number) {
    super(errors[0]?.message ?? code);
    this.httpStatus = httpStatus;
    this.errors = errors.map((error) => (error.extensions.code === undefined ? withCode(error, code) : error));
    this.code = (this.errors[0]?.extensions.code ?? code) as GraphQLCode; // what errors of ours carry
  }
}

function withCode({ message, nodes, source, positions, extensions }: GraphQLError, code: GraphQLCode): GraphQLError {
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, code } });
}

/** Runs operations over the graph, without Apollo Server and without HTTP. */
export interface GraphExecutor {
  /** What clients see: the API schema. */
  readonly schema: GraphQLSchema;
  /**
   * Parses, validates, and picks the operation; the same text gives the same object for as long as it is in use.
   * No limits on depth or cost: stored documents come here, clients' ones go through `GatewayContext.admit`.
   * @throws InvalidOperation
   */
  prepare(source: string, operationName?: string): PreparedOperation;
  /** Plans a query or mutation ahead of its first run. */
  warm(operation: PreparedOperation): void;
  /**
   * Runs a query or mutation with variables as their types have them: a client's are coerced when they are let in. Never
   * rejects: whatever goes wrong is in `errors`, in the client's form. Each call has its own `RequestCall`.
   */
  run(operation: PreparedOperation, variables: Record<string, unknown>, call: RequestCall): Promise<OperationResult>;
  /** As `run`, with the data as JSON. */
  runForText(
    operation: PreparedOperation,
    variables: Record<string, unknown>,
    call: RequestCall,
  ): Promise<OperationResult<string>>;
}

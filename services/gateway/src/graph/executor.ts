import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import type {
  DocumentNode,
  GraphQLError,
  GraphQLFormattedError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';

/** On whose behalf, and under which names, an operation runs. One for each operation: it changes while the operation runs. */
export interface RequestCall {
  /** A mutation that gives a session switches this to the new session's user, for the fetches that follow it. */
  identity: Identity;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** The client's address; auth alone is told. */
  readonly ip: string;
  /** Cuts the fetches off, when given. */
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

export interface OperationResult {
  data: Record<string, unknown> | null;
  /** With `extensions.code` out of the public list only; absent when there are none. */
  errors?: GraphQLFormattedError[];
}

/** What a document was refused for: `code` is the one of GraphQL over HTTP that fits all `errors`. */
export class InvalidOperation extends Error {
  override readonly name = 'InvalidOperation';
  readonly code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' | 'OPERATION_RESOLUTION_FAILURE';
  readonly errors: readonly GraphQLError[];

  constructor(code: InvalidOperation['code'], errors: readonly GraphQLError[]) {
    super(errors[0]?.message ?? code);
    this.code = code;
    this.errors = errors;
  }
}

/** Runs operations over the graph, without Apollo Server and without HTTP. */
export interface GraphExecutor {
  /** What clients see: the API schema. */
  readonly schema: GraphQLSchema;
  /**
   * Parses, validates, and picks the operation; the same text gives the same object for as long as it is in use.
   * No limits on depth or cost: stored documents come here, clients' ones go through `GatewayParts.admit`.
   * @throws InvalidOperation
   */
  prepare(source: string, operationName?: string): PreparedOperation;
  /** Plans a query or mutation ahead of its first run. */
  warm(operation: PreparedOperation): void;
  /**
   * Runs a query or mutation. Never rejects: whatever goes wrong is in `errors`, in the client's form.
   * Each call has its own `RequestCall`.
   */
  run(operation: PreparedOperation, variables: Record<string, unknown>, call: RequestCall): Promise<OperationResult>;
}

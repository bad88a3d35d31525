import { buildSubgraphSchema } from '@apollo/subgraph';
import { AppError, toGraphQLError } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import { type Log, inSpan, type Span, type SpanDescription } from '@taskmesh/service';
import {
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { countPlans, createExecution, type Execution } from './execution/execution.ts';
import { cancelled } from './execution/run.ts';
import { guardMutations } from './guard-mutations.ts';
import type { FieldTrace } from './inline-trace/field-trace.ts';
import { traceFields } from './inline-trace/trace-fields.ts';
import { operationSpan } from './operation-span.ts';

export interface SubgraphRequest {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

export interface SubgraphCall {
  identity: Identity;
  requestId: string;
  traceparent?: string;
  /** Asked between two resolvers of a query, and before anything begins: whether nobody waits for the result any more. */
  isCancelled?: () => boolean;
  /** The caller wants to know when each field began and ended: the result has `extensions.ftv1` (ADR 38). */
  trace?: FieldTrace | undefined;
}

export interface SubgraphResult {
  data?: Record<string, unknown> | null;
  errors?: GraphQLFormattedError[];
  /** From the service to the gateway; never sent to clients. */
  extensions?: Record<string, unknown>;
}

/** The context of every resolver. `extensions` is sent with the result. */
export interface SubgraphContext extends SubgraphCall {
  extensions: Record<string, unknown>;
}

/** A service's part of the graph. The HTTP server and the in-process data source both call `execute`. */
export interface Subgraph {
  name: string;
  execute(request: SubgraphRequest, call: SubgraphCall): Promise<SubgraphResult>;
}

export interface SubgraphOptions {
  name: string;
  typeDefs: DocumentNode;
  /** Typed by the service's generated types. */
  resolvers: object;
  mapError?: (error: unknown) => AppError | undefined;
  log: Log;
}

type Prepared = { execute: Execution; plans: number; span: SpanDescription } | { errors: GraphQLFormattedError[] };

/** The gateway repeats a small set of texts, so each is parsed, validated and planned once. */
const PREPARED_BYTES = 16 * 1024 * 1024;
/** Memory of a document per character of its text, and of each plan again (measured: 23 to 34 and 18 to 30 bytes). */
const BYTES_PER_CHARACTER = 32;
const BASE_BYTES = 2_048;

export function createSubgraph({ name, typeDefs, resolvers, mapError, log }: SubgraphOptions): Subgraph {
  const buildSchema = () => buildSubgraphSchema([{ typeDefs, resolvers: guardMutations(resolvers) as never }]); // the library's type knows no generated resolvers
  const untraced = buildSchema();
  let traced: GraphQLSchema | undefined;
  const prepared = new LRUCache<string, Prepared>({ maxSize: PREPARED_BYTES, sizeCalculation: sizeOf });

  const prepare = (query: string): Prepared => {
    const known = prepared.get(query);
    if (known) return known;
    const fresh = prepareAnew(query, untraced);
    prepared.set(query, fresh);
    return fresh;
  };

  const prepareAnew = (query: string, schema: GraphQLSchema): Prepared => {
    try {
      const document = parse(query, { noLocation: true });
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors: errors.map((error) => error.toJSON()) };
      const operation = getOperationAST(document); // none when there are several; the call then names one
      const span = operation ? operationSpan(operation) : { name };
      return { execute: createExecution(schema, document), plans: countPlans(document), span };
    } catch (error) {
      return { errors: [(error instanceof GraphQLError ? error : new GraphQLError(String(error))).toJSON()] };
    }
  };

  const format = (error: GraphQLError, requestId: string): GraphQLFormattedError => {
    const { originalError } = error;
    const expected = originalError instanceof AppError ? originalError : originalError && mapError?.(originalError);
    if (expected) {
      if (expected.code === 'SERVICE_UNAVAILABLE') log.warn({ err: expected, requestId }, 'request refused');
      return { ...toGraphQLError(expected).toJSON(), path: error.path };
    }
    if (!originalError) return error.toJSON();
    log.error({ err: originalError, requestId, path: error.path }, 'resolver failed');
    return {
      message: 'Internal server error',
      path: error.path,
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
    };
  };

  const run = async (
    { execute }: Exclude<Prepared, { errors: unknown }>,
    { variables, operationName }: SubgraphRequest,
    call: SubgraphCall,
    span: Span | undefined,
  ): Promise<SubgraphResult> => {
    const context: SubgraphContext = { ...call, extensions: {} };
    if (span) context.traceparent = span.traceparent;
    const { isCancelled } = call;
    const result = await execute({ operationName, variables, contextValue: context, isCancelled });
    const errors = result.errors?.map((error) => format(error, call.requestId));
    if (errors) span?.set({ 'taskmesh.graphql.error_codes': codesOf(errors) });
    return {
      ...(result.data !== undefined && { data: result.data }),
      ...(errors && { errors }),
      ...(Object.keys(context.extensions).length > 0 && { extensions: context.extensions }),
    };
  };

  const answer = async (
    prepareQuery: (query: string) => Prepared,
    request: SubgraphRequest,
    call: SubgraphCall,
  ): Promise<SubgraphResult> => {
    const ready = prepareQuery(request.query);
    if ('errors' in ready) return { errors: ready.errors };
    if (call.isCancelled?.()) return { errors: [cancelled().toJSON()] };
    return inSpan(
      () => ready.span,
      (span) => run(ready, request, call, span),
      name,
    );
  };

  const answerWithTrace = async (trace: FieldTrace, request: SubgraphRequest, call: SubgraphCall) => {
    const schema = (traced ??= traceFields(buildSchema()));
    const result = await answer((query) => prepareAnew(query, schema), request, call);
    return { ...result, extensions: { ...result.extensions, ftv1: await trace.end(result.errors) } };
  };

  return {
    name,
    execute: (request, call) =>
      call.trace ? answerWithTrace(call.trace, request, call) : answer(prepare, request, call),
  };
}

function codesOf(errors: GraphQLFormattedError[]): string[] {
  return [...new Set(errors.map(({ extensions }) => String(extensions?.['code'] ?? 'UNKNOWN')))];
}

function sizeOf(prepared: Prepared, query: string): number {
  const trees = 'plans' in prepared ? 1 + prepared.plans : prepared.errors.length;
  return BASE_BYTES + query.length * BYTES_PER_CHARACTER * trees;
}

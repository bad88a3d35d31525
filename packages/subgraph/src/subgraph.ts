import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { countPlans, createExecution, type Execution } from './execution.ts';
import { startFieldTrace, traceFields, type FieldTrace } from './field-trace.ts';
import { cancelled } from './run.ts';

export interface SubgraphRequest {
  query: string;
  variables?: Record<string, unknown> | null;
  /** Optional when the document has only one operation. */
  operationName?: string | null;
}

/** Consists of plain JSON values and shares no objects with the resolvers' results. */
export interface SubgraphResult {
  data?: Record<string, unknown> | null;
  errors?: GraphQLFormattedError[];
  extensions?: Record<string, unknown>;
}

export interface CallOptions {
  /**
   * Whether the caller has gone away. Checked before execution and before each resolver of a query; a mutation that has
   * started runs to its end.
   */
  isCancelled?: (() => boolean) | undefined;
  /** Adds `extensions.ftv1` to the result: when each field began and ended, for Apollo's federated tracing. */
  isTraced?: boolean;
}

/** Wraps the run of an operation, for example in a span. */
export type Around<Context> = (
  run: (context: Context) => Promise<SubgraphResult>,
  context: Context,
) => Promise<SubgraphResult>;

export interface SubgraphOptions<Context> {
  /** SDL of Apollo Federation 2. */
  typeDefs: DocumentNode;
  /** In the format of `@apollo/subgraph`. */
  resolvers: object;
  /** Converts an execution error for callers. @default graphql-js's format, which includes the message of the resolver's error */
  formatError?: (error: GraphQLError, context: Context) => GraphQLFormattedError;
  /**
   * Called once for each document that is prepared; the returned function wraps each of its runs. `operation` is undefined if
   * the document has several.
   */
  around?: (operation: OperationDefinitionNode | undefined) => Around<Context>;
}

/** A service's part of a federated graph. */
export interface Subgraph<Context extends object> {
  /** Never rejects: failures are part of the result. */
  execute(request: SubgraphRequest, context: Context, options?: CallOptions): Promise<SubgraphResult>;
}

interface Prepared<Context> {
  execute: Execution;
  plans: number;
  around: Around<Context> | undefined;
}
type Refused = { errors: GraphQLFormattedError[] };

/** A router repeats a small set of queries, so each one is parsed, validated and planned once. */
const PREPARED_BYTES = 16 * 1024 * 1024;
/** Memory per character of the query: for the document, and again for each plan (measured: 23 to 34 and 18 to 30 bytes). */
const BYTES_PER_CHARACTER = 32;
const BASE_BYTES = 2_048;

/** @throws when the schema and the resolvers do not match, like `@apollo/subgraph` */
export function executableSubgraph<Context extends object>(options: SubgraphOptions<Context>): Subgraph<Context> {
  const { typeDefs, resolvers, formatError = (error) => error.toJSON(), around } = options;
  const buildSchema = () => buildSubgraphSchema([{ typeDefs, resolvers: resolvers as never }]); // its type rejects generated resolvers
  const untraced = buildSchema();
  /** By context. */
  const traces = new WeakMap<object, FieldTrace>();
  let traced: GraphQLSchema | undefined;
  const prepared = new LRUCache<string, Prepared<Context> | Refused>({
    maxSize: PREPARED_BYTES,
    sizeCalculation: sizeOf,
  });

  const prepare = (query: string, schema: GraphQLSchema): Prepared<Context> | Refused => {
    try {
      const document = parse(query, { noLocation: true });
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors: errors.map((error) => error.toJSON()) };
      return {
        execute: createExecution(schema, document),
        plans: countPlans(document),
        around: around?.(getOperationAST(document) ?? undefined),
      };
    } catch (error) {
      return { errors: [(error instanceof GraphQLError ? error : new GraphQLError(String(error))).toJSON()] };
    }
  };

  const preparedOf = (query: string) => {
    const known = prepared.get(query);
    if (known) return known;
    const fresh = prepare(query, untraced);
    prepared.set(query, fresh);
    return fresh;
  };

  const serve = async (
    ready: Prepared<Context> | Refused,
    { variables, operationName }: SubgraphRequest,
    given: Context,
    { isCancelled }: CallOptions,
    trace?: FieldTrace,
  ): Promise<SubgraphResult> => {
    if ('errors' in ready) return { errors: ready.errors };
    if (isCancelled?.()) return { errors: [cancelled().toJSON()] };
    const run = async (context: Context) => {
      if (trace) traces.set(context, trace);
      const { data, errors } = await ready.execute({ operationName, variables, contextValue: context, isCancelled });
      return {
        ...(data !== undefined && { data }),
        ...(errors && { errors: errors.map((error) => formatError(error, context)) }),
      };
    };
    return ready.around ? ready.around(run, given) : run(given);
  };

  const serveTraced = async (request: SubgraphRequest, context: Context, call: CallOptions) => {
    const trace = startFieldTrace();
    traced ??= traceFields(buildSchema(), (each) => traces.get(each as object));
    const result = await serve(prepare(request.query, traced), request, context, call, trace);
    return { ...result, extensions: { ...result.extensions, ftv1: await trace.end(result.errors) } };
  };

  return {
    async execute(request, context, call = {}) {
      if (typeof request.query !== 'string') return { errors: [{ message: 'The query must be a string.' }] };
      if (call.isTraced) return serveTraced(request, context, call);
      return serve(preparedOf(request.query), request, context, call);
    },
  };
}

function sizeOf(prepared: Pick<Prepared<never>, 'plans'> | Refused, query: string): number {
  const trees = 'plans' in prepared ? 1 + prepared.plans : prepared.errors.length;
  return BASE_BYTES + query.length * BYTES_PER_CHARACTER * trees;
}

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

/** As JSON carries it: it shares nothing with what resolvers returned. */
export interface SubgraphResult {
  data?: Record<string, unknown> | null;
  errors?: GraphQLFormattedError[];
  extensions?: Record<string, unknown>;
}

export interface CallOptions {
  /**
   * Asked between two resolvers of a query, and before anything begins: whether the caller is gone. A mutation that has
   * begun runs to its end.
   */
  isCancelled?: (() => boolean) | undefined;
  /** When each field began and ended, for Apollo's federated tracing: the result has `extensions.ftv1`. */
  isTraced?: boolean;
}

/** Runs an operation, in a span for example. */
export type Around<Context> = (
  run: (context: Context) => Promise<SubgraphResult>,
  context: Context,
) => Promise<SubgraphResult>;

export interface SubgraphOptions<Context> {
  /** SDL of Apollo Federation 2. */
  typeDefs: DocumentNode;
  /** As `@apollo/subgraph` takes them. */
  resolvers: object;
  /** What callers see of an error during execution. @default graphql-js's form, with the message of the resolver's error */
  formatError?: (error: GraphQLError, context: Context) => GraphQLFormattedError;
  /**
   * Called once for each document that is prepared; what it returns surrounds each of its runs. The operation is undefined
   * when a document has several.
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

/** A router repeats a small set of texts, so each is parsed, validated and planned once. */
const PREPARED_BYTES = 16 * 1024 * 1024;
/** Memory of a document per character of its text, and of each plan again (measured: 23 to 34 and 18 to 30 bytes). */
const BYTES_PER_CHARACTER = 32;
const BASE_BYTES = 2_048;

/** @throws when the schema and the resolvers do not fit, as `@apollo/subgraph` does */
export function executableSubgraph<Context extends object>(options: SubgraphOptions<Context>): Subgraph<Context> {
  const { typeDefs, resolvers, formatError = (error) => error.toJSON(), around } = options;
  const buildSchema = () => buildSubgraphSchema([{ typeDefs, resolvers: resolvers as never }]); // its type knows no generated resolvers
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

  const answer = async (
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

  const answerTraced = async (request: SubgraphRequest, context: Context, call: CallOptions) => {
    const trace = startFieldTrace();
    traced ??= traceFields(buildSchema(), (each) => traces.get(each as object));
    const result = await answer(prepare(request.query, traced), request, context, call, trace);
    return { ...result, extensions: { ...result.extensions, ftv1: await trace.end(result.errors) } };
  };

  return {
    execute: (request, context, call = {}) =>
      call.isTraced ? answerTraced(request, context, call) : answer(preparedOf(request.query), request, context, call),
  };
}

function sizeOf(prepared: Pick<Prepared<never>, 'plans'> | Refused, query: string): number {
  const trees = 'plans' in prepared ? 1 + prepared.plans : prepared.errors.length;
  return BASE_BYTES + query.length * BYTES_PER_CHARACTER * trees;
}

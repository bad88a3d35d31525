import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  Kind,
  locatedError,
  OperationTypeNode,
  parse,
  validate,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { startFieldTrace, traceFields, type FieldTrace } from './field-trace.ts';
import { planOperation, type ObjectPlan, type Operation } from './plan.ts';
import { cancelled, runFields, runFieldsSerially, type Run } from './run.ts';

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
   * Whether the caller has disconnected. Checked before execution and before each resolver of a query; a mutation that
   * has started runs to its end.
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

/** Never rejects: failures are part of the result. */
type Execution = (request: ExecutionRequest) => Promise<ExecutionResult>;

interface ExecutionRequest {
  /** Optional when the document has only one operation. */
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
  contextValue: unknown;
  /** Once true, no further resolver of a query starts. A mutation that has started runs to its end. */
  isCancelled?: (() => boolean) | undefined;
}

interface Prepared<Context> {
  execute: Execution;
  plans: number;
  around: Around<Context> | undefined;
}
type Refused = { errors: GraphQLFormattedError[] };

/** A router repeats a small set of queries, so each one is parsed, validated and planned once. */
const MAX_PREPARED_BYTES = 16 * 1024 * 1024;
/** Memory per character of the query: for the document, and again for each plan (measured: 23 to 34 and 18 to 30 bytes). */
const BYTES_PER_CHARACTER = 32;
const BASE_BYTES = 2_048;
/** Each combination of `@skip` and `@include` values has its own plan; few combinations occur in practice. */
const MAX_PLANS = 16;

/** @throws when the schema and the resolvers do not match, like `@apollo/subgraph` */
export function executableSubgraph<Context extends object>(options: SubgraphOptions<Context>): Subgraph<Context> {
  const { typeDefs, resolvers, formatError = (error) => error.toJSON(), around } = options;
  const buildSchema = () => buildSubgraphSchema([{ typeDefs, resolvers: resolvers as never }]); // its type rejects generated resolvers
  const untraced = buildSchema();
  /** By context. */
  const traces = new WeakMap<object, FieldTrace>();
  let traced: GraphQLSchema | undefined;
  const prepared = new LRUCache<string, Prepared<Context> | Refused>({
    maxSize: MAX_PREPARED_BYTES,
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
    callContext: Context,
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
    return ready.around ? ready.around(run, callContext) : run(callContext);
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

/**
 * Equivalent to graphql-js's `execute` for validated queries and mutations: same results, errors and resolver calls.
 * Computes once per operation what graphql-js recomputes for each field of each object.
 */
export function createExecution(schema: GraphQLSchema, document: DocumentNode): Execution {
  const operations = operationsOf(schema, document);
  const conditions = conditionVariables(document);
  const plans = new Map<string, ObjectPlan>();

  const planOf = (operation: Operation, variables: Record<string, unknown>): ObjectPlan => {
    const name = operation.definition.name?.value ?? '';
    const key = `${name} ${conditions.map((condition) => Number(variables[condition])).join('')}`;
    const known = plans.get(key);
    if (known) return known;
    const [oldest] = plans.keys();
    if (plans.size >= MAX_PLANS && oldest !== undefined) plans.delete(oldest);
    const plan = planOperation(operation, variables);
    plans.set(key, plan);
    return plan;
  };

  return async ({ operationName, variables, contextValue, isCancelled }) => {
    const operation = chooseOperation(operations, operationName);
    if (operation instanceof GraphQLError) return { errors: [operation] };
    const coercion = getVariableValues(schema, operation.definition.variableDefinitions ?? [], variables ?? {});
    if (coercion.errors) return { errors: coercion.errors };
    const isMutation = operation.definition.operation === OperationTypeNode.MUTATION;
    const run: Run = {
      operation,
      variables: coercion.coerced,
      contextValue,
      isCancelled: isMutation ? undefined : isCancelled,
      errors: [],
    };
    let data: unknown;
    try {
      const plan = planOf(operation, coercion.coerced);
      data = await (isMutation ? runFieldsSerially(plan, undefined, run) : runFields(plan, undefined, undefined, run));
    } catch (error) {
      run.errors.push(locatedError(error, undefined));
      data = null;
    }
    if (run.isCancelled?.()) return { errors: [cancelled()] };
    const result = { data: data as ExecutionResult['data'] }; // an object of the operation's root type, or null
    return run.errors.length > 0 ? { ...result, errors: [...run.errors] } : result;
  };
}

function countPlans(document: DocumentNode): number {
  return Math.min(2 ** conditionVariables(document).length, MAX_PLANS);
}

function operationsOf(schema: GraphQLSchema, document: DocumentNode): Operation[] {
  const fragments = Object.fromEntries(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return document.definitions.flatMap((definition) => {
    const rootType = definition.kind === Kind.OPERATION_DEFINITION && schema.getRootType(definition.operation);
    return rootType ? [{ schema, definition, rootType, fragments }] : [];
  });
}

function chooseOperation(operations: Operation[], name: string | null | undefined): Operation | GraphQLError {
  const [only, ...others] = operations.filter(({ definition }) => name == null || definition.name?.value === name);
  if (only && others.length === 0) return only;
  return new GraphQLError(name == null ? 'Name one of the operations.' : `There is no operation "${name}" here.`);
}

function conditionVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      if (directive.name.value !== 'skip' && directive.name.value !== 'include') return;
      for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}

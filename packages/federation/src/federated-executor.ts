import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { AskSubgraph } from './execution/run.ts';
import { createTypeConditions } from './execution/type-conditions.ts';
import { clientOperation, conditionVariables } from './operation/client-operation.ts';
import { compileVariant, type OperationVariant, type VariantDeps } from './operation-variant.ts';
import { runOperation, type OperationRequest, type OperationResult, type Schedule } from './run-operation.ts';
import type { FederatedGraph } from './supergraph.ts';

/** Each combination of `@skip` and `@include` values is compiled separately; few combinations occur in practice. */
const MAX_VARIANTS = 16;

type Variables = Readonly<Record<string, unknown>>;

export interface FederatedOperation<Context> {
  /** Rejects only when the operation cannot be planned, or with an error of `schedule`. */
  run(request: OperationRequest<Context>): Promise<OperationResult>;
}

/** Called with the number of bytes allocated; negative when memory is freed. */
export type Resized = (bytes: number) => void;

export interface FederatedExecutor<Context> {
  /**
   * Compiles an operation of a validated document, for repeated use. The operation is planned now or, if `@skip` or `@include`
   * depend on variables, at the first run with each combination of values.
   * @param resized called with the bytes of memory allocated or freed (negative), without the document's own
   * @throws Error when the document has no such operation, or when the operation cannot be planned
   */
  compile(document: DocumentNode, operationName?: string, resized?: Resized): FederatedOperation<Context>;
}

/**
 * Executes operations on a federated graph with plans that are compiled once. Needs no closing.
 * @param schedule runs what takes long and does not begin with the run: later planning, and introspection beside services'
 * fields. @default runs it at once
 */
export function createFederatedExecutor<Context>(
  graph: FederatedGraph,
  ask: AskSubgraph<Context>,
  schedule: Schedule<Context> = async (_context, work) => work(),
): FederatedExecutor<Context> {
  const isOfType = createTypeConditions(graph.supergraphSchema);
  const prefix = freePrefix(graph.supergraphSchema);
  return {
    compile: (document, operationName, resized = () => undefined) =>
      compileOperation({ graph, ask, schedule, isOfType, prefix, resized }, document, operationName),
  };
}

interface CompileDeps<Context> extends VariantDeps {
  ask: AskSubgraph<Context>;
  schedule: Schedule<Context>;
}

function compileOperation<Context>(
  deps: CompileDeps<Context>,
  document: DocumentNode,
  operationName?: string,
): FederatedOperation<Context> {
  const { ask, schedule } = deps;
  const operation = clientOperation(deps.graph.schema, document, operationName);
  const conditions = conditionVariables(operation);
  const variants = new Map<string, OperationVariant<Context>>();

  const keyOf = (variables: Variables) => conditions.map((name) => Number(variables[name] === true)).join('');
  const planned = (variables: Variables): OperationVariant<Context> => {
    const key = keyOf(variables);
    const known = variants.get(key); // may have been planned while this one waited for its turn
    if (known) return known;
    const [oldest] = variants;
    if (variants.size >= MAX_VARIANTS && oldest !== undefined) {
      variants.delete(oldest[0]);
      oldest[1].release();
    }
    const values = Object.fromEntries(conditions.map((name) => [name, variables[name] === true]));
    const variant = compileVariant<Context>(deps, operation, values);
    variants.set(key, variant);
    return variant;
  };

  if (conditions.length === 0) planned({});

  return {
    async run(request) {
      const { variables, context } = request;
      const variant = variants.get(keyOf(variables)) ?? (await schedule(context, () => planned(variables)));
      return runOperation({ variant, request, ask, schedule });
    },
  };
}

/** Memoizes `compile` per operation of a document, for as long as the document is in use. */
export function compileOnce<Context>({ compile }: FederatedExecutor<Context>) {
  const compiled = new WeakMap<DocumentNode, Map<string | undefined, FederatedOperation<Context>>>();
  return (document: DocumentNode, operationName: string | undefined): FederatedOperation<Context> => {
    const operations = compiled.get(document) ?? new Map<string | undefined, FederatedOperation<Context>>();
    compiled.set(document, operations);
    const operation = operations.get(operationName) ?? compile(document, operationName);
    operations.set(operationName, operation);
    return operation;
  };
}

/** A prefix with which no field name begins. */
function freePrefix(schema: GraphQLSchema): string {
  const names = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type ? Object.keys(type.getFields()) : [],
  );
  let prefix = '_f';
  while (names.some((name) => name.startsWith(prefix))) prefix += '_';
  return prefix;
}

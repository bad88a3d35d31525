import type { DocumentNode, GraphQLSchema } from 'graphql';
import { compileOperation, type FederatedOperation, type SchedulePlanning, type Resized } from './compile-operation.ts';
import type { AskSubgraph } from './execution/run.ts';
import { createTypeConditions } from './execution/type-conditions.ts';
import type { FederatedGraph } from './supergraph.ts';

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
 * @param schedulePlanning runs plans that become necessary only at a run. @default runs them at once
 */
export function createFederatedExecutor<Context>(
  graph: FederatedGraph,
  ask: AskSubgraph<Context>,
  schedulePlanning: SchedulePlanning<Context> = async (_context, plan) => plan(),
): FederatedExecutor<Context> {
  const isOfType = createTypeConditions(graph.supergraphSchema);
  const prefix = freePrefix(graph.supergraphSchema);
  return {
    compile: (document, operationName, resized = () => undefined) =>
      compileOperation({ graph, ask, schedulePlanning, isOfType, prefix, resized }, document, operationName),
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

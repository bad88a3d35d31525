import type { DocumentNode, GraphQLSchema } from 'graphql';
import { compileOperation, type FederatedOperation } from './compile-operation.ts';
import type { AskSubgraph } from './execution/run.ts';
import { createTypeConditions } from './execution/type-conditions.ts';
import type { FederatedGraph } from './federated-graph.ts';

export interface FederatedExecutor<Context> {
  /**
   * Makes an operation of a validated document ready to run; keep it. It is planned at once, or, where variables decide what
   * `@skip` and `@include` leave, at the first run with such variables.
   * @throws Error when the document has no such operation, or there is no plan
   */
  compile(document: DocumentNode, operationName?: string): FederatedOperation<Context>;
}

/** Executes operations on a federated graph by plans that are compiled once. It holds nothing that has to be closed. */
export function createFederatedExecutor<Context>(
  graph: FederatedGraph,
  ask: AskSubgraph<Context>,
): FederatedExecutor<Context> {
  const isOfType = createTypeConditions(graph.supergraphSchema);
  const prefix = freePrefix(graph.supergraphSchema);
  return {
    compile: (document, operationName) => compileOperation({ graph, ask, isOfType, prefix }, document, operationName),
  };
}

/** With which no field's name begins. */
function freePrefix(schema: GraphQLSchema): string {
  const names = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type ? Object.keys(type.getFields()) : [],
  );
  let prefix = '_f';
  while (names.some((name) => name.startsWith(prefix))) prefix += '_';
  return prefix;
}

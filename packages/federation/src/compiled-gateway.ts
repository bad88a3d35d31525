import type { ApolloServerOptionsWithGateway, BaseContext } from '@apollo/server';
import { getVariableValues, GraphQLError, type DocumentNode } from 'graphql';
import type { FederatedOperation } from './compile-operation.ts';
import type { AskSubgraph } from './execution/run.ts';
import { createFederatedExecutor } from './federated-executor.ts';
import type { Failures } from './run-operation.ts';
import { readSupergraph } from './supergraph.ts';

type Gateway<Context extends BaseContext> = ApolloServerOptionsWithGateway<Context>['gateway'];

export interface CompiledGatewayOptions<Context> {
  /** The SDL of a composed supergraph, such as `rover supergraph compose` writes. */
  supergraph: string;
  /** Calls a service. `context` is that of Apollo Server's request. */
  ask: AskSubgraph<Context>;
}

/**
 * Apollo Server's `gateway` for a federated graph: `new ApolloServer({ gateway: compiledGateway({ supergraph, ask }) })`. Operations
 * are planned once for each document, as long as Apollo Server keeps it (`documentStore`).
 * @throws Error when it is not a valid supergraph of Federation 2
 */
export function compiledGateway<Context extends BaseContext>(
  options: CompiledGatewayOptions<Context>,
): Gateway<Context> {
  const { supergraph, ask } = options;
  const graph = readSupergraph(supergraph);
  const executor = createFederatedExecutor(graph, ask);
  const compiled = new WeakMap<DocumentNode, Map<string | null, FederatedOperation<Context>>>();

  const compiledOf = (document: DocumentNode, name: string | null): FederatedOperation<Context> => {
    const operations = compiled.get(document) ?? new Map<string | null, FederatedOperation<Context>>();
    compiled.set(document, operations);
    const operation = operations.get(name) ?? executor.compile(document, name ?? undefined);
    operations.set(name, operation);
    return operation;
  };

  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: graph.schema, coreSupergraphSdl: supergraph });
      return () => undefined;
    },
    load: async () => ({
      async executor({ document, operation, operationName, request, context }) {
        const given = getVariableValues(graph.schema, operation.variableDefinitions ?? [], request.variables ?? {});
        if (given.errors) return { errors: given.errors };
        const { data, errors, incomplete } = await compiledOf(document, operationName).run({
          variables: given.coerced,
          context: context as Context, // Apollo Server hands on what its `context` function made
        });
        const failures = asGraphQLErrors({ errors, incomplete });
        return failures.length > 0 ? { data, errors: failures } : { data };
      },
    }),
    stop: async () => undefined,
  };
}

/** With `extensions.serviceName` on those that a service gave or caused. */
export function asGraphQLErrors({ errors, incomplete }: Failures): GraphQLError[] {
  return [
    ...errors.map(({ message, path, extensions, service, cause }) => {
      const originalError = cause instanceof Error ? cause : undefined;
      return new GraphQLError(message, { path, originalError, extensions: { ...extensions, serviceName: service } });
    }),
    ...incomplete.map(({ path }) => new GraphQLError('A service left out what its schema promises.', { path })),
  ];
}

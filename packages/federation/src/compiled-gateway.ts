import type { ApolloServerOptionsWithGateway, BaseContext } from '@apollo/server';
import { getVariableValues, GraphQLError } from 'graphql';
import type { AskSubgraph, ServiceError } from './execution/run.ts';
import { compileOnce, createFederatedExecutor } from './federated-executor.ts';
import type { Failures } from './run-operation.ts';
import { readSupergraph } from './supergraph.ts';

type Gateway<Context extends BaseContext> = ApolloServerOptionsWithGateway<Context>['gateway'];

export interface CompiledGatewayOptions<Context> {
  /** The SDL of a composed supergraph, for example from `rover supergraph compose`. */
  supergraph: string;
  /** Calls a service. Receives the context of Apollo Server's request. */
  ask: AskSubgraph<Context>;
}

/**
 * Creates a `gateway` for Apollo Server: `new ApolloServer({ gateway: compiledGateway({ supergraph, ask }) })`. Plans the
 * operations of a document once, for as long as Apollo Server keeps the document (`documentStore`).
 * @throws Error when the supergraph is not valid in Federation 2
 */
export function compiledGateway<Context extends BaseContext>(
  options: CompiledGatewayOptions<Context>,
): Gateway<Context> {
  const { supergraph, ask } = options;
  const graph = readSupergraph(supergraph);
  const compiledOf = compileOnce(createFederatedExecutor(graph, ask));

  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: graph.schema, coreSupergraphSdl: supergraph });
      return () => undefined;
    },
    load: async () => ({
      async executor({ document, operation, operationName, request, context }) {
        const given = getVariableValues(graph.schema, operation.variableDefinitions ?? [], request.variables ?? {});
        if (given.errors) return { errors: given.errors };
        const { data, errors, incomplete } = await compiledOf(document, operationName ?? undefined).run({
          variables: given.coerced,
          context: context as Context, // Apollo Server passes on the result of its `context` function
        });
        const failures = asGraphQLErrors({ errors, incomplete });
        return failures.length > 0 ? { data, errors: failures } : { data };
      },
    }),
    stop: async () => undefined,
  };
}

export function asGraphQLErrors({ errors, incomplete }: Failures): GraphQLError[] {
  return [
    ...errors.map(asGraphQLError),
    ...incomplete.map(({ path }) => new GraphQLError('A service left out what its schema promises.', { path })),
  ];
}

/** Adds the name of the service that reported or caused the error. */
export function asGraphQLError({ message, path, extensions, service, cause }: ServiceError): GraphQLError {
  const originalError = cause instanceof Error ? cause : undefined;
  return new GraphQLError(message, { path, originalError, extensions: { ...extensions, serviceName: service } });
}

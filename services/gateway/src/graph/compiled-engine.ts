import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import {
  createFederatedExecutor,
  type AskSubgraph,
  type ServiceError,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import { GraphQLError } from 'graphql';
import type { OperationRun } from './data-source.ts';
import type { Engine, RunOperation } from './engine.ts';
import { fetchOnly } from './fetch-only.ts';
import type { Supergraph } from './supergraph.ts';

/** The executor of `@taskmesh/federation`, over plans of @apollo/query-planner. */
export function createCompiledEngine(supergraph: Supergraph, services: ServiceMap): Engine {
  const ours = new Set(supergraph.services.filter(({ own }) => own).map(({ name }) => name));
  const executor = createFederatedExecutor(supergraph, askServices(services));

  return ({ document, operationName }) => {
    const operation = executor.compile(document, operationName);
    const merge: RunOperation = async (variables, run) => {
      const { data, errors, incomplete } = await operation.runForObject({ variables, context: run });
      return {
        data,
        ...(errors.length > 0 && { errors: errors.map(asThrown) }),
        ...(incomplete.length > 0 && { incomplete }),
      };
    };
    return (variables, run) => {
      const only = operation.fetchAlone(variables);
      return only && ours.has(only.serviceName) ? fetchOnly(only, services, variables, run) : merge(variables, run);
    };
  };
}

/** Services as data sources, which take variables as objects. */
export function askServices(services: ServiceMap): AskSubgraph<OperationRun> {
  return async ({ operation, variables }, context) => {
    const service = services[operation.service];
    if (!service) throw new Error(`The graph has no service ${operation.service}.`);
    const request = {
      query: operation.text,
      variables: JSON.parse(variables) as Record<string, unknown>,
      operationName: operation.name,
    };
    const options = { request, context } as unknown as Parameters<GraphQLDataSource['process']>[0]; // all that ours read
    return (await service.process(options)) as SubgraphAnswer;
  };
}

/** As `formatErrors` expects them. */
export function asThrown({ message, path, extensions, service, cause }: ServiceError): unknown {
  if (cause !== undefined) return cause;
  return new GraphQLError(message, { path, extensions: { ...extensions, serviceName: service } });
}

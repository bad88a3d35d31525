import {
  createFederatedExecutor,
  type AskSubgraph,
  type OperationResult,
  type ServiceError,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import { GraphQLError } from 'graphql';
import type { GraphSources, OperationRun } from './sources.ts';
import type { Engine, EngineResult } from './engine.ts';
import { runSingleFetch } from './run-single-fetch.ts';
import type { Supergraph } from './supergraph.ts';

/** The executor of `@taskmesh/federation`, over plans of @apollo/query-planner. */
export function createCompiledEngine(supergraph: Supergraph, services: GraphSources): Engine {
  const ours = new Set(supergraph.services.filter(({ own }) => own).map(({ name }) => name));
  const executor = createFederatedExecutor(supergraph, askServices(services));

  return ({ document, operationName }, resized) => {
    const operation = executor.compile(document, operationName, resized);
    return async (variables, run) => {
      const only = operation.fetchAlone(variables);
      return only && ours.has(only.serviceName)
        ? runSingleFetch(only, services, variables, run)
        : asEngineResult(await operation.run({ variables, context: run }));
    };
  };
}

/** As `formatResult` expects it. */
export function asEngineResult({ data, errors, incomplete }: OperationResult): EngineResult {
  return {
    data,
    ...(errors.length > 0 && { errors: errors.map(asThrown) }),
    ...(incomplete.length > 0 && { incomplete }),
  };
}

export function askServices(services: GraphSources): AskSubgraph<OperationRun> {
  return ({ operation, variables }, run): Promise<SubgraphAnswer> => {
    const service = services[operation.service];
    if (!service) return Promise.reject(new Error(`The graph has no service ${operation.service}.`));
    const { text: query, quotedText: quotedQuery, name: operationName } = operation;
    return service.ask({ query, quotedQuery, operationName, variablesText: variables }, run) as Promise<SubgraphAnswer>;
  };
}

/** As `formatErrors` expects them. */
function asThrown({ message, path, extensions, service, cause }: ServiceError): GraphQLError {
  const originalError = cause instanceof Error ? cause : undefined;
  return new GraphQLError(message, { path, originalError, extensions: { ...extensions, serviceName: service } });
}

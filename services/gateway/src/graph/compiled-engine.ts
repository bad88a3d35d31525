import { operationFromDocument } from '@apollo/federation-internals';
import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import {
  createFederatedExecutor,
  fieldsRequiredWithArguments,
  type AskSubgraph,
  type FederatedGraph,
  type ServiceError,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import { GraphQLError, parse, type DocumentNode } from 'graphql';
import type { OperationRun } from './data-source.ts';
import type { Engine, RunOperation } from './engine.ts';
import { fetchOnly } from './fetch-only.ts';
import type { Supergraph } from './supergraph.ts';

/** The executor of `@taskmesh/federation`, over plans of @apollo/query-planner. */
export function createCompiledEngine(supergraph: Supergraph, services: ServiceMap): Engine {
  const ours = new Set(supergraph.services.filter(({ own }) => own).map(({ name }) => name));
  const executor = createFederatedExecutor(federatedGraph(supergraph), askServices(services));

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

/** @param change what becomes of a plan before it is compiled */
export function federatedGraph(supergraph: Supergraph, change = (plan: QueryPlan) => plan): FederatedGraph {
  const { schema, supergraphSchema, apiSchema, planner, sdl } = supergraph;
  return {
    schema,
    supergraphSchema,
    requiredWithArguments: fieldsRequiredWithArguments(parse(sdl, { noLocation: true })),
    plan: (document: DocumentNode) => change(planner.buildQueryPlan(operationFromDocument(apiSchema, document))),
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

/** As the formatting of errors expects them. */
export function asThrown({ message, path, extensions, service, cause }: ServiceError): unknown {
  if (cause !== undefined) return cause;
  return new GraphQLError(message, { path, extensions: { ...extensions, serviceName: service } });
}

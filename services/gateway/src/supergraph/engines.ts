import type * as ApolloGateway from '@apollo/gateway';
import { operationFromDocument } from '@apollo/federation-internals';
import type { executeQueryPlan as Execute } from '@apollo/gateway';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import {
  asGraphQLError,
  type AskSubgraph,
  createFederatedExecutor,
  type OperationResult,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import type { Log } from '@taskmesh/service';
import { GraphQLError, parse, print } from 'graphql';
import { createRequire } from 'node:module';
import type { Engine, EngineResult, GraphSources, OperationRun, PreparedOperation } from './operation.ts';
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
    ...(errors.length > 0 && { errors: errors.map(asGraphQLError) }),
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

/** Passes the service's answer on to the client, including its errors. */
export async function runSingleFetch(
  { serviceName, operation: query, operationName, variableUsages = [] }: FetchNode,
  services: GraphSources,
  variables: Record<string, unknown>,
  run: OperationRun,
): Promise<EngineResult> {
  // By `fromEntries`, as assigning to `__proto__` would set the prototype.
  const used = Object.fromEntries(
    variableUsages.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]),
  );
  const request = { query, variables: used, operationName: operationName ?? null };
  const result = await services[serviceName]?.ask(request, run);
  const errors = result?.errors?.map(
    ({ message, path, extensions }) => new GraphQLError(message, { path, extensions: { ...extensions } }),
  );
  return { data: result?.data ?? null, ...(errors?.length && { errors }) };
}

/** For a character of a plan's JSON. */
const PLAN_BYTES = 12;

/** The executor of @apollo/gateway. */
export function createApolloEngine(supergraph: Supergraph, services: GraphSources, log: Log): Engine {
  const { buildOperationContext, executeQueryPlan } = apolloGateway();
  const { schema, apiSchema, supergraphSchema, planner } = supergraph;
  const ours = new Set(supergraph.services.filter(({ own }) => own).map(({ name }) => name));

  return (operation, resized) => {
    const { document, operationName } = operation;
    const name = operationName ? { operationName } : {};
    const plan = planner.buildQueryPlan(operationFromDocument(apiSchema, document, name));
    resized(PLAN_BYTES * JSON.stringify(plan).length);
    const context = buildOperationContext({ schema, operationDocument: document, ...name });
    const fetch = passThrough(plan, operation);
    const only = fetch && ours.has(fetch.serviceName) ? fetch : undefined;

    return async (variables, run) => {
      if (only) return runSingleFetch(only, services, variables, run);
      // The executor reads only these properties of the request context.
      const request = { request: { variables }, context: run, metrics: {}, logger: log } as unknown as Parameters<
        typeof Execute
      >[2];
      const result = await executeQueryPlan(plan, services, request, context, supergraphSchema, apiSchema);
      const { data, errors, extensions } = result;
      return {
        data: (data as EngineResult['data']) ?? null,
        // It also reports the nulls that are there because of errors.
        ...(errors?.length ? { errors } : { incomplete: extensions?.valueCompletion }),
      };
    };
  };
}

const require = createRequire(import.meta.url);

/** Holds some 30 MiB: loaded only where its executor runs. */
const apolloGateway = () => require('@apollo/gateway') as typeof ApolloGateway;

/**
 * The plan's only fetch, if it requests exactly the client's selection: its result then needs no merging or shaping.
 * Undefined when the plan has more to do. For our own services only, whose types match the graph's.
 */
function passThrough({ node }: QueryPlan, { operation }: PreparedOperation): FetchNode | undefined {
  if (node?.kind !== 'Fetch' || node.requires?.length) return undefined;
  const [fetched] = parse(node.operation, { noLocation: true }).definitions;
  if (fetched?.kind !== 'OperationDefinition') return undefined;
  return print(fetched.selectionSet) === print(operation.selectionSet) ? node : undefined;
}

import type * as ApolloGateway from '@apollo/gateway';
import { operationFromDocument } from '@apollo/federation-internals';
import type { executeQueryPlan as Execute } from '@apollo/gateway';
import {
  asGraphQLError,
  type AskSubgraph,
  createFederatedExecutor,
  type OperationResult,
  type SubgraphAnswer,
} from '@taskmesh/federation';
import { type Log, networkOf } from '@taskmesh/service';
import { createRequire } from 'node:module';
import type { Engine, EngineResult, GraphSources, OperationRun } from './operation.ts';
import type { Supergraph } from './supergraph.ts';
import type { BlockingWork } from './blocking-work.ts';

export interface EngineDeps {
  log: Log;
  blockingWork: BlockingWork;
}

/** The executor of `@taskmesh/federation`, over plans of @apollo/query-planner. */
export function createCompiledEngine(
  supergraph: Supergraph,
  services: GraphSources,
  { blockingWork }: EngineDeps,
): Engine {
  const executor = createFederatedExecutor(supergraph, createSubgraphCall(services), scheduleIn(blockingWork));

  return ({ document, operationName }, onResize) => {
    const operation = executor.compile(document, operationName, onResize);
    return async (variables, run) => asEngineResult(await operation.run({ variables, context: run }));
  };
}

/** Queues work under the caller's network. */
const scheduleIn =
  (blockingWork: BlockingWork) =>
  <Result>({ call, signal }: Pick<OperationRun, 'call' | 'signal'>, work: () => Result): Promise<Result> =>
    blockingWork.run(networkOf(call.ip), work, signal);

/** The result in the form that `formatResult` expects. */
export function asEngineResult({ data, errors, incomplete }: OperationResult): EngineResult {
  return {
    data,
    ...(errors.length > 0 && { errors: errors.map(asGraphQLError) }),
    ...(incomplete.length > 0 && { incomplete }),
  };
}

export function createSubgraphCall(services: GraphSources): AskSubgraph<OperationRun> {
  return ({ operation, variables }, run): Promise<SubgraphAnswer> => {
    const service = services[operation.service];
    if (!service) return Promise.reject(new Error(`The graph has no service ${operation.service}.`));
    const { text: query, name: operationName = null } = operation;
    return service.execute({ query, operationName, variables }, run) as Promise<SubgraphAnswer>;
  };
}

/** Memory per character of a plan's JSON. */
const PLAN_BYTES = 12;

/** The executor of @apollo/gateway. */
export function createApolloEngine(supergraph: Supergraph, services: GraphSources, { log }: EngineDeps): Engine {
  const { buildOperationContext, executeQueryPlan } = apolloGateway();
  const { schema, apiSchema, supergraphSchema, planner } = supergraph;

  return ({ document, operationName }, onResize) => {
    const name = operationName ? { operationName } : {};
    const plan = planner.buildQueryPlan(operationFromDocument(apiSchema, document, name));
    onResize(PLAN_BYTES * JSON.stringify(plan).length);
    const context = buildOperationContext({ schema, operationDocument: document, ...name });

    return async (variables, run) => {
      // The executor reads only these properties of the request context.
      const request = { request: { variables }, context: run, metrics: {}, logger: log } as unknown as Parameters<
        typeof Execute
      >[2];
      const result = await executeQueryPlan(plan, services, request, context, supergraphSchema, apiSchema);
      const { data, errors, extensions } = result;
      return {
        data: (data as EngineResult['data']) ?? null,
        // If there are errors, `valueCompletion` also lists the nulls that they caused.
        ...(errors?.length ? { errors } : { incomplete: extensions?.valueCompletion }),
      };
    };
  };
}

const require = createRequire(import.meta.url);

/** Takes about 30 MiB, so it is loaded only if its executor is used. */
const apolloGateway = () => require('@apollo/gateway') as typeof ApolloGateway;

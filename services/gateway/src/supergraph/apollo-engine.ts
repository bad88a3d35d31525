import { operationFromDocument } from '@apollo/federation-internals';
import type { executeQueryPlan as Execute } from '@apollo/gateway';
import type { Log } from '@taskmesh/service';
import { apolloGateway } from './apollo-gateway.ts';
import type { GraphSources } from './sources.ts';
import type { Engine, EngineResult } from './engine.ts';
import { runSingleFetch } from './run-single-fetch.ts';
import { passThrough } from './pass-through.ts';
import type { Supergraph } from './supergraph.ts';

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
        // It also tells of the nulls that are there because of errors.
        ...(errors?.length ? { errors } : { incomplete: extensions?.valueCompletion }),
      };
    };
  };
}

import type { FetchNode } from '@apollo/query-planner';
import { GraphQLError } from 'graphql';
import type { GraphSources, OperationRun } from './sources.ts';
import type { EngineResult } from './engine.ts';

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

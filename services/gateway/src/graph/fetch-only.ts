import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import type { FetchNode } from '@apollo/query-planner';
import { GraphQLError } from 'graphql';
import type { OperationRun } from './data-source.ts';
import type { EngineResult } from './engine.ts';

/** Passes the service's answer on to the client, including its errors. */
export async function fetchOnly(
  { serviceName, operation: query, operationName, variableUsages = [] }: FetchNode,
  services: ServiceMap,
  variables: Record<string, unknown>,
  run: OperationRun,
): Promise<EngineResult> {
  const used: Record<string, unknown> = {};
  for (const name of variableUsages) if (Object.hasOwn(variables, name)) used[name] = variables[name];
  const options = { request: { query, variables: used, operationName }, context: run } as unknown;
  const result = await services[serviceName]?.process(options as Parameters<GraphQLDataSource['process']>[0]); // all that ours read
  const errors = result?.errors?.map(
    ({ message, path, extensions }) => new GraphQLError(message, { path, extensions: { ...extensions } }),
  );
  return { data: (result?.data as EngineResult['data']) ?? null, ...(errors?.length && { errors }) };
}

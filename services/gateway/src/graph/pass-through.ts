import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import { parse, print } from 'graphql';
import type { PreparedOperation } from './executor.ts';

/**
 * The one fetch of a plan that asks a service for exactly what the client asked for, field by field: its result is the
 * client's result, and needs no merging or shaping. Undefined when the plan has more to do. Only for services of ours,
 * which answer by the same types as the graph promises.
 */
export function passThrough({ node }: QueryPlan, { operation }: PreparedOperation): FetchNode | undefined {
  if (node?.kind !== 'Fetch' || node.requires?.length) return undefined;
  const [fetched] = parse(node.operation, { noLocation: true }).definitions;
  if (fetched?.kind !== 'OperationDefinition') return undefined;
  return print(fetched.selectionSet) === print(operation.selectionSet) ? node : undefined;
}

import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import { parse, print } from 'graphql';
import type { PreparedOperation } from './executor.ts';

/**
 * The plan's only fetch, if it requests exactly the client's selection: its result then needs no merging or shaping.
 * Undefined when the plan has more to do. For our own services only, whose types match the graph's.
 */
export function passThrough({ node }: QueryPlan, { operation }: PreparedOperation): FetchNode | undefined {
  if (node?.kind !== 'Fetch' || node.requires?.length) return undefined;
  const [fetched] = parse(node.operation, { noLocation: true }).definitions;
  if (fetched?.kind !== 'OperationDefinition') return undefined;
  return print(fetched.selectionSet) === print(operation.selectionSet) ? node : undefined;
}

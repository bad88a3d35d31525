import type { FetchNode, PlanNode, QueryPlan } from '@apollo/query-planner';

/** Replaces each fetch of a plan. */
export function replaceFetches({ node, ...plan }: QueryPlan, replace: (fetch: FetchNode) => PlanNode): QueryPlan {
  const inNode = (each: PlanNode): PlanNode => {
    switch (each.kind) {
      case 'Fetch':
        return replace(each);
      case 'Flatten':
        return { ...each, node: inNode(each.node) };
      case 'Sequence':
      case 'Parallel':
        return { ...each, nodes: each.nodes.map(inNode) };
      default:
        return each; // not supported by this executor
    }
  };
  if (node?.kind !== 'Subscription') return { ...plan, ...(node && { node: inNode(node) }) };
  const { primary, rest } = node;
  return { ...plan, node: { ...node, primary: replace(primary) as FetchNode, ...(rest && { rest: inNode(rest) }) } };
}

import type { FetchNode, PlanNode } from '@apollo/query-planner';
import type { DataPath } from './data-paths.ts';

export interface PlannedFetch {
  node: FetchNode;
  /** The path to the objects for which it fetches fields. */
  path: DataPath;
  /** All fetches that must end before this one starts. */
  after: ReadonlySet<PlannedFetch>;
}

const NONE: ReadonlySet<PlannedFetch> = new Set();

/** Returns all fetches of a plan in an order that respects their dependencies. @throws Error for unsupported plans */
export function fetchesOf(node: PlanNode, path: DataPath = [], after = NONE): PlannedFetch[] {
  switch (node.kind) {
    case 'Fetch':
      return [{ node, path, after }];
    case 'Flatten':
      return fetchesOf(node.node, [...path, ...dataPath(node.path)], after);
    case 'Sequence': {
      let before = after;
      return node.nodes.flatMap((each) => {
        const fetches = fetchesOf(each, path, before);
        before = new Set([...before, ...fetches]);
        return fetches;
      });
    }
    case 'Parallel':
      return node.nodes.flatMap((each) => fetchesOf(each, path, after));
    case 'Condition':
      throw new Error('Plans here depend on no variables: each answer to @skip and @include has one of its own.');
    case 'Defer':
      throw new Error('This executor does not defer.');
  }
}

function dataPath(path: readonly (string | number)[]): DataPath {
  return path.map((step) => {
    if (typeof step === 'string' && !step.includes('|[')) return step;
    throw new Error('The plan has a path that depends on types.');
  });
}

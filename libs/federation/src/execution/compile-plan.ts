import type { ConditionNode, FlattenNode, PlanNode } from '@apollo/query-planner';
import { compileFetch, type FetchDeps, type Step } from './compile-fetch.ts';
import { fetchesOf, type PlannedFetch } from './plan-fetches.ts';

/** A plan as one function. @throws Error for a plan that this executor cannot run */
export function compilePlan<Context>(root: PlanNode, deps: FetchDeps): Step<Context> {
  const fetches = fetchesOf(root);
  // In the order in which the walk below meets them.
  const left = fetches.values();

  const compile = (node: PlanNode): Step<Context> => {
    switch (node.kind) {
      case 'Fetch':
        return compileFetch(nextOf(left), fetches, deps);
      case 'Flatten':
        return compile((node satisfies FlattenNode).node);
      case 'Sequence':
        return inSequence(node.nodes.map(compile));
      case 'Parallel':
        return inParallel(node.nodes.map(compile));
      case 'Condition':
        return onCondition(node, node.ifClause && compile(node.ifClause), node.elseClause && compile(node.elseClause));
      case 'Defer':
        throw new Error('This executor does not defer.');
    }
  };
  return compile(root);
}

function nextOf(fetches: Iterator<PlannedFetch>): PlannedFetch {
  const { value, done } = fetches.next();
  if (done) throw new Error('The plan has another fetch than before.');
  return value;
}

function inSequence<Context>(steps: readonly Step<Context>[]): Step<Context> {
  const [only, ...others] = steps;
  if (only && others.length === 0) return only;
  return async (run) => {
    for (const step of steps) await step(run);
  };
}

function inParallel<Context>(steps: readonly Step<Context>[]): Step<Context> {
  const [only, ...others] = steps;
  if (only && others.length === 0) return only;
  return (run) => Promise.all(steps.map((step) => step(run)));
}

function onCondition<Context>(
  { condition }: ConditionNode,
  then: Step<Context> | undefined,
  otherwise: Step<Context> | undefined,
): Step<Context> {
  return (run) => (run.variables[condition] === true ? then : otherwise)?.(run);
}

import type { PlanNode } from '@apollo/query-planner';
import { compileEntityRequest } from './compile-entity-request.ts';
import { compileFetch, type FetchDeps, type Step } from './compile-fetch.ts';
import { fetchesOf } from './plan-fetches.ts';
import { scheduleFetches } from './schedule.ts';

/** Compiles a plan into one function. @throws Error for a plan that this executor cannot run */
export function compilePlan<Context>(root: PlanNode, deps: FetchDeps): Step<Context> {
  const all = fetchesOf(root);
  if (all.some(({ node }) => node.contextRewrites?.length))
    throw new Error('This executor does not hand on context (@fromContext).');
  const requests = scheduleFetches(all);
  const steps = requests.map(({ fetches }) => {
    const [first] = fetches;
    if (first?.node.requires) return compileEntityRequest<Context>(fetches, deps);
    if (!first) throw new Error('A request of the plan has no fetch.');
    return compileFetch<Context>(first, deps);
  });
  const [only, ...others] = steps;
  if (only && others.length === 0) return only;
  return (run) => {
    /** Each step begins when all steps that it depends on, which come before it, have ended. */
    const ends: Promise<unknown>[] = [];
    for (const [index, step] of steps.entries()) {
      const after = requests[index]?.after.map((before) => ends[before]) ?? [];
      ends.push(Promise.all(after).then(() => step(run)));
    }
    return Promise.all(ends);
  };
}

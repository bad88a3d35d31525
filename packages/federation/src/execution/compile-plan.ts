import type { PlanNode } from '@apollo/query-planner';
import { compileEntityRequest } from './compile-entity-request.ts';
import { compileFetch, type FetchDeps, type Step } from './compile-fetch.ts';
import { canBeJoined } from './joined-operation.ts';
import { fetchesOf, type PlannedFetch } from './plan-fetches.ts';

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
    /** Each step starts when all steps that it depends on have ended. Dependencies always have lower indices. */
    const ends: Promise<unknown>[] = [];
    for (const [index, step] of steps.entries()) {
      const after = requests[index]?.after.map((before) => ends[before]) ?? [];
      ends.push(Promise.all(after).then(() => step(run)));
    }
    return Promise.all(ends);
  };
}

/** Fetches that are combined into one request to their service. */
interface PlannedRequest {
  fetches: readonly PlannedFetch[];
  /** Indices of the requests that must end before this one starts. */
  after: readonly number[];
}

/** Groups the fetches that one service can execute in the same step. Returns the groups in the order of steps. */
function scheduleFetches(fetches: readonly PlannedFetch[]): PlannedRequest[] {
  const steps = new Map<PlannedFetch, number>();
  const stepOf = (fetch: PlannedFetch) => steps.get(fetch) ?? 0;
  for (const fetch of fetches) steps.set(fetch, Math.max(-1, ...[...fetch.after].map(stepOf)) + 1);
  const groups: PlannedFetch[][] = [];
  for (const fetch of fetches.toSorted((one, other) => stepOf(one) - stepOf(other))) {
    const group = groups.find((each) =>
      each.every((one) => stepOf(one) === stepOf(fetch) && canBeJoined(one.node, fetch.node)),
    );
    if (group) group.push(fetch);
    else groups.push([fetch]);
  }
  return groups.map((group) => ({
    fetches: group,
    after: [...groups.keys()].filter((index) =>
      groups[index]?.some((each) => group.some(({ after }) => after.has(each))),
    ),
  }));
}

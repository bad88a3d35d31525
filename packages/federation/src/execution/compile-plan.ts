import type { PlanNode } from '@apollo/query-planner';
import { compileEntityRequest } from './compile-entity-request.ts';
import { compileFetch, type FetchDeps, type Step } from './compile-fetch.ts';
import { fetchesOf } from './plan-fetches.ts';
import type { PlanRun } from './run.ts';
import { scheduleFetches } from './schedule.ts';

/** Compiles a plan into one function. @throws Error for a plan that this executor cannot run */
export function compilePlan<Context>(root: PlanNode, deps: FetchDeps): Step<Context> {
  const all = fetchesOf(root);
  if (all.some(({ node }) => node.contextRewrites?.length))
    throw new Error('This executor does not hand on context (@fromContext).');
  const requests = scheduleFetches(all);
  const steps = requests.map(({ fetches }) => {
    const [first] = fetches;
    if (first?.node.requires) return compileEntityRequest<Context>(fetches, all, deps);
    if (!first) throw new Error('A request of the plan has no fetch.');
    return compileFetch<Context>(first, deps);
  });
  const after = requests.map((request) => request.after);
  const isChain = after.every((places, index) => index === 0 || places.includes(index - 1));
  return isChain ? inSequence(steps) : inOrder(steps, after);
}

function inSequence<Context>(steps: readonly Step<Context>[]): Step<Context> {
  const [only, ...others] = steps;
  if (only && others.length === 0) return only;
  return async (run) => {
    for (const step of steps) await step(run);
  };
}

/** Each step begins when all steps that it depends on have ended. */
function inOrder<Context>(steps: readonly Step<Context>[], after: readonly (readonly number[])[]): Step<Context> {
  const next = steps.map((_step, index) => after.flatMap((places, other) => (places.includes(index) ? [other] : [])));
  const counts = after.map((places) => places.length);
  const first = counts.flatMap((count, index) => (count === 0 ? [index] : []));
  return (run: PlanRun<Context>) =>
    new Promise<void>((resolve, reject) => {
      const waiting = [...counts];
      let left = steps.length;
      const end = (index: number) => {
        if (--left === 0) return resolve();
        for (const other of next[index] ?? []) {
          const count = (waiting[other] ?? 0) - 1;
          waiting[other] = count;
          if (count === 0) begin(other);
        }
      };
      const begin = (index: number) => {
        try {
          const running = steps[index]?.(run);
          if (running) running.then(() => end(index)).catch(reject);
          else end(index);
        } catch (error) {
          reject(error as Error);
        }
      };
      first.forEach(begin);
    });
}

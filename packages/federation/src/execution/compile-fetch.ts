import { copyOf, merge } from './merge.ts';
import { failing, failure, operationOf, serviceError, variablesReader } from './subgraph-request.ts';
import { objectsAt } from './data-paths.ts';
import type { PlannedFetch } from './plan-fetches.ts';
import { compileRewrites, renamedKeys } from './rewrites.ts';
import type { PlanRun } from './run.ts';
import type { IsOfType } from './type-conditions.ts';

/** Never rejects: failures are added to the run's errors. */
export type Step<Context> = (run: PlanRun<Context>) => Promise<unknown>;

export interface FetchDeps {
  isOfType: IsOfType;
  /** The plan's variables that have another name in the client's operation, with that name. */
  renamed: ReadonlyMap<string, string>;
}

export function compileFetch<Context>({ node, path }: PlannedFetch, { isOfType, renamed }: FetchDeps): Step<Context> {
  const operation = operationOf(node);
  const variablesOf = variablesReader(node.variableUsages ?? [], renamed);
  const keys = renamedKeys(node.outputRewrites);
  const rewrite = compileRewrites(node.outputRewrites, isOfType);
  return failing(operation, async (run) => {
    const targets = objectsAt(run.data, path);
    if (targets.length === 0) return;
    const answer = await run.ask({ operation, variables: variablesOf(run.variables) }, run.context);
    const { data } = answer;
    const errors = answer.errors ?? [];
    for (const error of errors) {
      const below = (error.path ?? []).map((key) => keys.get(key) ?? key);
      run.errors.push(serviceError(error, operation, [...path, ...below]));
    }
    if (!data) {
      const message = `The service "${operation.service}" responded without data.`;
      if (errors.length === 0) run.errors.push(failure(operation, message));
      return;
    }
    rewrite?.(data);
    for (const [index, target] of targets.entries()) merge(target, index === 0 ? data : copyOf(data, run.room));
  });
}

import type { FetchNode } from '@apollo/query-planner';
import type { AnswerError, PlanRun, RunError, SubgraphAnswer, SubgraphOperation } from './run.ts';

/** The operation of a fetch, or of several whose joint operation is `text`. */
export function operationOf(
  { serviceName, operation, operationName, operationKind }: FetchNode,
  text = operation,
): SubgraphOperation {
  return {
    service: serviceName,
    kind: operationKind,
    text,
    name: operationName,
  };
}

/** The given ones of these client variables, by the plan's names. */
export function variablesReader(names: readonly string[], renamed: ReadonlyMap<string, string>) {
  const usages = names.map((name) => ({ name, own: renamed.get(name) ?? name }));
  return (variables: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    // By `fromEntries`, as assigning to `__proto__` would set the prototype.
    Object.fromEntries(
      usages.filter(({ own }) => Object.hasOwn(variables, own)).map(({ name, own }) => [name, variables[own]]),
    );
}

/** Undefined when there is no answer, in which case the run gets an error. */
export async function requestSubgraph<Context>(
  operation: SubgraphOperation,
  variables: Record<string, unknown>,
  run: PlanRun<Context>,
): Promise<SubgraphAnswer | undefined> {
  try {
    return await run.ask({ operation, variables }, run.context);
  } catch (cause) {
    const message = `The service "${operation.service}" could not be asked.`;
    run.errors.push({ ...failure(operation, message), cause });
    return undefined;
  }
}

/** A request that failed as a whole. */
export function failure(operation: SubgraphOperation, message: string): RunError {
  return { message, service: operation.service, operation };
}

/** `path` is relative to the run's data; undefined when the error belongs to no place. */
export function serviceError(
  { message, extensions, path: given }: AnswerError,
  operation: SubgraphOperation,
  path: (string | number)[] | undefined,
): RunError {
  return {
    ...failure(operation, message ?? `The service "${operation.service}" failed.`),
    ...(given && path && { path }),
    ...(extensions && { extensions }),
  };
}

import type { FetchNode } from '@apollo/query-planner';
import type { AnswerError, PlanRun, RunError, SubgraphOperation } from './run.ts';

/** The operation of a fetch, or of several joined fetches if `text` is given. */
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

/** Returns a function that picks these variables from the client's and gives them the plan's names. Omits variables that are not set. */
export function variablesReader(names: readonly string[], renamed: ReadonlyMap<string, string>) {
  const usages = names.map((name) => ({ name, own: renamed.get(name) ?? name }));
  return (variables: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    // `fromEntries`, because assigning to `__proto__` would set the prototype.
    Object.fromEntries(
      usages.filter(({ own }) => Object.hasOwn(variables, own)).map(({ name, own }) => [name, variables[own]]),
    );
}

/** Adds an error to the run if the request fails, or if its response cannot be merged. */
export function failing<Context>(operation: SubgraphOperation, step: (run: PlanRun<Context>) => Promise<void>) {
  const message = `The request to the service "${operation.service}" failed.`;
  return (run: PlanRun<Context>): Promise<void> =>
    step(run).catch((cause: unknown) => void run.errors.push({ ...failure(operation, message), cause }));
}

/** The error for a request that failed as a whole. */
export function failure(operation: SubgraphOperation, message: string): RunError {
  return { message, service: operation.service, operation };
}

/** `path` refers to the run's data; undefined if the error has no path there. */
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

import type { FetchNode } from '@apollo/query-planner';
import type { AnswerError, ServiceError } from './errors.ts';
import type { PlanRun, SubgraphAnswer, SubgraphOperation } from './run.ts';

/** What a fetch asks, or several of them in one `text`. */
export function operationOf(
  { serviceName, operation, operationName, operationKind }: FetchNode,
  text = operation,
): SubgraphOperation {
  return {
    service: serviceName,
    kind: operationKind,
    text,
    quotedText: JSON.stringify(text),
    name: operationName,
  };
}

/** Writes these variables of the client's, as far as they are there, without the braces around them. */
export function variablesWriter(names: readonly string[], renamed: ReadonlyMap<string, string>) {
  const usages = names.map((name) => ({ label: `${JSON.stringify(name)}:`, name: renamed.get(name) ?? name }));
  return (variables: Readonly<Record<string, unknown>>): string => {
    let text = '';
    for (const { label, name } of usages) {
      const value = Object.hasOwn(variables, name) ? JSON.stringify(variables[name]) : undefined;
      if (value !== undefined) text += `${text === '' ? '' : ','}${label}${value}`;
    }
    return text;
  };
}

/** Undefined when no answer came: then the run has an error more. */
export async function ask<Context>(
  operation: SubgraphOperation,
  variables: string,
  run: PlanRun<Context>,
): Promise<SubgraphAnswer | undefined> {
  try {
    return await run.ask({ operation, variables }, run.context);
  } catch (cause) {
    const message = `The service "${operation.service}" could not be asked.`;
    run.errors.push({ message, service: operation.service, cause });
    return undefined;
  }
}

/** `path`: in the data of the run; undefined when it is about no place. */
export function serviceError(
  { message, extensions, path: given }: AnswerError,
  { service }: SubgraphOperation,
  path: (string | number)[] | undefined,
): ServiceError {
  return {
    message: message ?? `The service "${service}" failed.`,
    ...(given && path && { path }),
    ...(extensions && { extensions }),
    service,
  };
}

import type { FetchNode } from '@apollo/query-planner';
import type { Data } from '../projection/own-value.ts';
import type { AnswerError, ServiceError } from './errors.ts';
import { merge } from './merge.ts';
import { objectsAt, pathsTo } from './places.ts';
import { isShareable, type PlannedFetch } from './plan-fetches.ts';
import { compileRepresentations } from './representations.ts';
import { compileRewrites, renamedKeys, type Rewrite } from './rewrites.ts';
import type { PlanRun, SubgraphAnswer, SubgraphOperation } from './run.ts';
import type { IsOfType } from './type-conditions.ts';

/** Never rejects: what goes wrong is among the run's errors. Nothing to wait for when there is nothing to ask. */
export type Step<Context> = (run: PlanRun<Context>) => Promise<unknown> | undefined;

export interface FetchDeps {
  isOfType: IsOfType;
  /** From the variables of the plan to those of the client, where they differ. */
  renamed: ReadonlyMap<string, string>;
}

export function compileFetch<Context>(
  fetch: PlannedFetch,
  all: readonly PlannedFetch[],
  deps: FetchDeps,
): Step<Context> {
  const { node } = fetch;
  if (node.contextRewrites?.length) throw new Error('This executor does not hand on context (@fromContext).');
  return node.requires ? entityFetch(fetch, all, deps) : plainFetch(fetch, deps);
}

function operationOf({ serviceName, operation, operationName, operationKind }: FetchNode): SubgraphOperation {
  return {
    service: serviceName,
    kind: operationKind,
    text: operation,
    quotedText: JSON.stringify(operation),
    name: operationName,
  };
}

/** Writes those variables that a fetch uses, without the braces around them. */
function variablesWriter({ variableUsages = [] }: FetchNode, renamed: FetchDeps['renamed']) {
  const usages = variableUsages.map((name) => ({ label: `${JSON.stringify(name)}:`, name: renamed.get(name) ?? name }));
  return (variables: Readonly<Record<string, unknown>>): string => {
    let text = '';
    for (const { label, name } of usages) {
      const value = Object.hasOwn(variables, name) ? JSON.stringify(variables[name]) : undefined;
      if (value !== undefined) text += `${text === '' ? '' : ','}${label}${value}`;
    }
    return text;
  };
}

function plainFetch<Context>({ node, path }: PlannedFetch, { isOfType, renamed }: FetchDeps): Step<Context> {
  const operation = operationOf(node);
  const writeVariables = variablesWriter(node, renamed);
  const keys = renamedKeys(node.outputRewrites);
  const rewrite = compileRewrites(node.outputRewrites, isOfType);
  return async (run) => {
    const targets = objectsAt(run.data, path);
    if (targets.length === 0) return;
    const answer = await asked(operation, keys, `{${writeVariables(run.variables)}}`, run);
    if (!answer) return;
    const { data, errors } = answer;
    if (errors)
      for (const error of errors) run.errors.push(serviceError(error, operation, [...path, ...(error.path ?? [])]));
    if (!data) return;
    rewrite?.(data);
    for (const [index, target] of targets.entries()) merge(target, index === 0 ? data : copyOf(data));
  };
}

function entityFetch<Context>(
  fetch: PlannedFetch,
  all: readonly PlannedFetch[],
  { isOfType, renamed }: FetchDeps,
): Step<Context> {
  const { node, path } = fetch;
  const operation = operationOf(node);
  const writeVariables = variablesWriter(node, renamed);
  const keys = renamedKeys(node.outputRewrites);
  const writeRepresentation = compileRepresentations(node, isOfType);
  const rewrite = compileRewrites(node.outputRewrites, isOfType);
  const takeOver = isShareable(fetch, all) ? (data: Data) => data : copyOf;

  const receive = (entities: readonly unknown[], asked: EntitiesAsked) => {
    const isTaken = new Uint8Array(entities.length);
    for (const [index, target] of asked.targets.entries()) {
      const place = asked.places[index] ?? 0;
      const entity = entities[place];
      if (typeof entity !== 'object' || entity === null) continue;
      if (isTaken[place] === 0) prepare(entity as Data, target, rewrite);
      merge(target, isTaken[place] === 0 ? (entity as Data) : takeOver(entity as Data));
      isTaken[place] = 1;
    }
  };

  const ask = async (run: PlanRun<Context>, entities: EntitiesAsked) => {
    const others = writeVariables(run.variables);
    const variables = `{${others}${others === '' ? '' : ','}"representations":[${entities.text}]}`;
    const answer = await asked(operation, keys, variables, run);
    if (!answer) return;
    if (answer.errors) reportErrors(answer.errors, fetch, operation, entities, run);
    const received = answer.data?._entities;
    if (Array.isArray(received) && received.length === entities.count) receive(received, entities);
    else if (!answer.errors?.length) {
      const message = `The service "${operation.service}" did not answer for all objects that it was asked about.`;
      run.errors.push({ message, service: operation.service });
    }
  };

  return (run) => {
    const entities = gather(objectsAt(run.data, path), writeRepresentation);
    return entities.count === 0 ? undefined : ask(run, entities);
  };
}

/** Objects to ask about, each different one once. */
interface EntitiesAsked {
  targets: Data[];
  /** Which of the representations is a target's. */
  places: number[];
  /** The representations, with commas between them. */
  text: string;
  count: number;
}

function gather(objects: readonly Data[], write: (object: Data) => string): EntitiesAsked {
  const asked: EntitiesAsked = { targets: [], places: [], text: '', count: 0 };
  const known = new Map<string, number>();
  for (const object of objects) {
    const text = write(object);
    if (text === '') continue;
    let place = known.get(text);
    if (place === undefined) {
      place = asked.count++;
      known.set(text, place);
      asked.text += place === 0 ? text : `,${text}`;
    }
    asked.targets.push(object);
    asked.places.push(place);
  }
  return asked;
}

/** For the rewrites of the plan that depend on what type an object is. */
function prepare(entity: Data, target: Data, rewrite: Rewrite | undefined): void {
  if (!rewrite) return;
  entity.__typename ??= target.__typename;
  rewrite(entity);
}

/** Undefined when no answer came. */
async function asked<Context>(
  operation: SubgraphOperation,
  keys: ReadonlyMap<unknown, string>,
  variables: string,
  { ask, context, errors }: PlanRun<Context>,
): Promise<SubgraphAnswer | undefined> {
  try {
    const answer = await ask({ operation, variables }, context);
    if (!answer.errors || keys.size === 0) return answer;
    return {
      ...answer,
      errors: answer.errors.map((error) => ({ ...error, path: error.path?.map((key) => keys.get(key) ?? key) })),
    };
  } catch (cause) {
    const message = `The service "${operation.service}" could not be asked.`;
    errors.push({ message, service: operation.service, cause });
    return undefined;
  }
}

function reportErrors<Context>(
  errors: readonly AnswerError[],
  { path }: PlannedFetch,
  operation: SubgraphOperation,
  { targets, places }: EntitiesAsked,
  run: PlanRun<Context>,
): void {
  const failed = new Set(errors.map(({ path: given }) => given?.[1]));
  const wanted = new Set(targets.filter((_target, index) => failed.has(places[index])));
  const pathsOf = pathsTo(wanted, run.data, path);
  for (const error of errors) {
    const [root, place, ...below] = error.path ?? [];
    if (root !== '_entities' || typeof place !== 'number') {
      run.errors.push(serviceError(error, operation, undefined));
      continue;
    }
    // The same object may be in many places, and has failed in all of them.
    for (const target of new Set(targets.filter((_target, index) => places[index] === place)))
      for (const at of pathsOf.get(target) ?? []) run.errors.push(serviceError(error, operation, [...at, ...below]));
  }
}

function serviceError(
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

function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Data = {};
  for (const key of Object.keys(value)) if (key !== '__proto__') copy[key] = copyOf((value as Data)[key]);
  return copy as Value;
}

import {
  defaultFieldResolver,
  defaultTypeResolver,
  getArgumentValues,
  GraphQLError,
  isObjectType,
  locatedError,
  responsePathAsArray,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { FieldPlan, ObjectPlan, Operation, Slot } from './plan.ts';

type Path = GraphQLResolveInfo['path'];

export interface Run {
  operation: Operation;
  variables: Record<string, unknown>;
  contextValue: unknown;
  isCancelled: (() => boolean) | undefined;
  errors: GraphQLError[];
}

export const cancelled = () => new GraphQLError('No one is waiting for the result.');

/**
 * Runs the fields of an object. The result's keys keep the planned order. Returns a promise only if a field does.
 * @throws the located error of a non-null field
 */
export function runFields(plan: ObjectPlan, source: unknown, path: Path | undefined, run: Run): unknown {
  const result = { ...plan.shape };
  const pending: Promise<unknown>[] = [];
  try {
    for (const field of plan.fields) {
      const value = runField(field, source, path, run);
      result[field.key] = value;
      if (value instanceof Promise) pending.push(value.then((settled) => (result[field.key] = settled)));
    }
  } catch (error) {
    return failOnceSettled(pending, error);
  }
  return pending.length > 0 ? Promise.all(pending).then(() => result) : result;
}

/** Like `runFields`, but one field after the other, as mutations require. */
export async function runFieldsSerially(plan: ObjectPlan, source: unknown, run: Run): Promise<unknown> {
  const result = { ...plan.shape };
  for (const field of plan.fields) result[field.key] = await runField(field, source, undefined, run);
  return result;
}

function runField(field: FieldPlan, source: unknown, parentPath: Path | undefined, run: Run): unknown {
  let path: Path | undefined;
  let value: unknown;
  try {
    const { resolve, name } = field.definition;
    value = resolve ? undefined : (source as Record<string, unknown> | undefined)?.[name];
    if (resolve || typeof value === 'function') {
      path = pathTo(field, parentPath);
      value = resolveField(field, source, path, run);
    } else if (field.value.kind === 'leaf' && typeof value !== 'object') {
      return completeValue(field, value, undefined, run); // most fields of most results, which need no path
    }
  } catch (error) {
    return failField(field, error, path ?? pathTo(field, parentPath), run);
  }
  return settleValue(field, value, path ?? pathTo(field, parentPath), run);
}

function resolveField(field: FieldPlan, source: unknown, path: Path, run: Run): unknown {
  const { definition, nodes } = field;
  if (run.isCancelled?.()) throw cancelled();
  const args = definition.args.length > 0 && nodes[0] ? getArgumentValues(definition, nodes[0], run.variables) : {};
  const resolve = definition.resolve ?? defaultFieldResolver;
  return resolve(source, args, run.contextValue, infoOf(field, path, run));
}

function pathTo({ key, parentType }: FieldPlan, parentPath: Path | undefined): Path {
  return { prev: parentPath, key, typename: parentType.name };
}

function infoOf({ definition, nodes, parentType }: FieldPlan, path: Path, run: Run): GraphQLResolveInfo {
  const { operation, variables } = run;
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    schema: operation.schema,
    fragments: operation.fragments,
    rootValue: undefined,
    operation: operation.definition,
    variableValues: variables,
  };
}

function settleValue(slot: Slot, value: unknown, path: Path, run: Run): unknown {
  try {
    const result = isPromise(value)
      ? Promise.resolve(value).then((arrived) => completeValue(slot, arrived, path, run))
      : completeValue(slot, value, path, run);
    return result instanceof Promise ? result.catch((error: unknown) => failField(slot, error, path, run)) : result;
  } catch (error) {
    return failField(slot, error, path, run);
  }
}

function failField({ field, isNonNull }: Slot, cause: unknown, path: Path, run: Run): null {
  const error = locatedError(cause, field.nodes, responsePathAsArray(path));
  if (isNonNull) throw error;
  run.errors.push(error);
  return null;
}

/** `path` is needed only for values with fields or items. */
function completeValue(slot: Slot, value: unknown, path: Path | undefined, run: Run): unknown {
  if (value instanceof Error) throw value;
  const result = value === null || value === undefined ? null : complete(slot, value, path, run);
  if (result === null && slot.isNonNull) {
    throw new Error(`Cannot return null for non-nullable field ${nameOf(slot.field)}.`);
  }
  return result;
}

function complete({ value: plan, field }: Slot, value: unknown, path: Path | undefined, run: Run): unknown {
  switch (plan.kind) {
    case 'leaf': {
      const result = asJson(plan.type.serialize(value)); // a copy, so that the caller cannot change the service's objects
      if (result !== null && result !== undefined) return result;
      throw new Error(`${plan.type.name} cannot represent the value of ${nameOf(field)}.`);
    }
    case 'list':
      return runItems(plan.item, value, path, run);
    case 'object':
      return runFields(plan.object, value, path, run);
    case 'abstract': {
      const resolveType = plan.type.resolveType ?? defaultTypeResolver;
      const info = { schema: run.operation.schema } as GraphQLResolveInfo; // type resolvers read nothing else
      const name = resolveType(value, run.contextValue, info, plan.type);
      const runAs = (typeName: string | undefined) =>
        runFields(plan.objectOf(runtimeType(plan.type, typeName, run)), value, path, run);
      return isPromise(name) ? Promise.resolve(name).then(runAs) : runAs(name);
    }
  }
}

function runItems(item: Slot, value: unknown, path: Path | undefined, run: Run): unknown {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${nameOf(item.field)}".`);
  }
  const results: unknown[] = [];
  const pending: Promise<unknown>[] = [];
  try {
    for (const each of value as Iterable<unknown>) {
      const index = results.length;
      const result = settleValue(item, each, { prev: path, key: index, typename: undefined }, run);
      results.push(result);
      if (result instanceof Promise) pending.push(result.then((arrived) => (results[index] = arrived)));
    }
  } catch (error) {
    return failOnceSettled(pending, error);
  }
  return pending.length > 0 ? Promise.all(pending).then(() => results) : results;
}

function runtimeType(type: GraphQLAbstractType, name: string | undefined, { operation }: Run): GraphQLObjectType {
  const found = name === undefined ? undefined : operation.schema.getType(name);
  if (isObjectType(found) && operation.schema.isSubType(type, found)) return found;
  throw new GraphQLError(`A ${type.name} is resolved to ${String(name)}, which is not one of its types.`);
}

/** Waits for the pending fields first, because their rejections would otherwise be unhandled. */
function failOnceSettled(pending: readonly Promise<unknown>[], error: unknown): Promise<never> {
  if (pending.length === 0) throw error;
  return Promise.allSettled(pending).then(() => {
    throw error;
  });
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function nameOf({ parentType, definition }: FieldPlan): string {
  return `${parentType.name}.${definition.name}`;
}

/** Returns the value as JSON would carry it. @throws TypeError for values that JSON cannot express */
function asJson(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value;
  const text = JSON.stringify(value) as string | undefined; // undefined for functions and symbols, which its type omits
  return text === undefined ? undefined : JSON.parse(text);
}

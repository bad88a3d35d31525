import type { FetchDataRewrite } from '@apollo/query-planner';
import type { Data } from './data-paths.ts';
import type { IsOfType } from './type-conditions.ts';

/** Begins the step of a path that is a type condition. */
export const FRAGMENT = '... on ';

/** A change that the plan requires to representations before they are sent, or to a response. */
export type Rewrite = (value: unknown) => void;

export function compileRewrites(
  rewrites: readonly FetchDataRewrite[] | undefined,
  isOfType: IsOfType,
): Rewrite | undefined {
  if (!rewrites?.length) return undefined;
  const steps = rewrites.map((rewrite) => compileRewrite(rewrite, isOfType));
  return (value) => {
    for (const step of steps) step(value);
  };
}

function compileRewrite(rewrite: FetchDataRewrite, isOfType: IsOfType): Rewrite {
  const last = rewrite.path.at(-1);
  if (last === undefined || last.startsWith(FRAGMENT)) throw new Error('A rewrite of the plan names no field.');
  const change = rewrite.kind === 'ValueSetter' ? setter(last, rewrite.setValueTo) : renamer(last, rewrite.renameKeyTo);
  return rewrite.path
    .slice(0, -1)
    .reduceRight<Rewrite>((next, step) => onObjects(stepInto(step, next, isOfType)), onObjects(change));
}

function setter(key: string, value: unknown) {
  return (data: Data) => void (data[key] = value);
}

function renamer(key: string, to: string) {
  return (data: Data) => {
    if (!Object.hasOwn(data, key) || data[key] === undefined) return;
    data[to] = data[key];
    delete data[key];
  };
}

function stepInto(step: string, next: Rewrite, isOfType: IsOfType) {
  if (!step.startsWith(FRAGMENT)) return (data: Data) => next(Object.hasOwn(data, step) ? data[step] : undefined);
  const condition = step.slice(FRAGMENT.length);
  // An object without a type name is assumed to be of the expected type.
  return (data: Data) => {
    if (!data.__typename || isOfType(data.__typename, condition)) next(data);
  };
}

function onObjects(change: (data: Data) => void): Rewrite {
  const apply: Rewrite = (value) => {
    if (Array.isArray(value)) for (const item of value) apply(item);
    else if (typeof value === 'object' && value !== null) change(value as Data);
  };
  return apply;
}

/** Keys of a response that its rewrites rename. The paths of errors still contain the original keys. */
export function renamedKeys(rewrites: readonly FetchDataRewrite[] = []): ReadonlyMap<unknown, string> {
  return new Map(
    rewrites.flatMap((rewrite) => (rewrite.kind === 'KeyRenamer' ? [[rewrite.path.at(-1), rewrite.renameKeyTo]] : [])),
  );
}

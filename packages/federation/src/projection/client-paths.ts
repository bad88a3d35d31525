import type { Data, ResultPath } from '../execution/data-paths.ts';
import type { ObjectPlan, Slot } from './projection-plan.ts';

/**
 * Maps a path in the services' data to paths in the client's result. There may be several, because a field may have several
 * response keys. Fields that the client did not select are attributed to the enclosing object.
 */
export function clientPaths(plan: ObjectPlan, data: unknown, path: ResultPath): ResultPath[] {
  const found: ResultPath[] = [];
  followObject(plan, data, path, [], found);
  return found;
}

function followObject(plan: ObjectPlan, data: unknown, path: ResultPath, at: ResultPath, found: ResultPath[]): void {
  const [step, ...rest] = path;
  let isSeen = false;
  for (const { key, source } of plan.fields) {
    if (source.kind !== 'data' || source.from !== step) continue;
    isSeen = true;
    followSlot(source.slot, (data as Data | null | undefined)?.[step], rest, [...at, key], found);
  }
  if (!isSeen) found.push(at);
}

function followSlot({ value: plan }: Slot, data: unknown, path: ResultPath, at: ResultPath, found: ResultPath[]): void {
  const [step, ...rest] = path;
  if (step === undefined || plan.kind === 'leaf') found.push(at);
  else if (plan.kind === 'list') {
    if (typeof step === 'number')
      followSlot(plan.item, (data as unknown[] | null | undefined)?.[step], rest, [...at, step], found);
    else found.push(at);
  } else {
    const object = plan.kind === 'object' ? plan.object : plan.planOf((data as Data | null | undefined)?.__typename);
    if (object) followObject(object, data, path, at, found);
    else found.push(at);
  }
}

/** A field of the result that no service has returned, not even as null. */
export interface AbsentField {
  /** The field's key in the services' data. */
  from: string;
  path: ResultPath;
}

/** Finds the first `max` absent fields of objects that are present. */
export function absentFields(plan: ObjectPlan, data: Data, max: number): AbsentField[] {
  const found: AbsentField[] = [];
  searchObject(plan, data, [], { found, max });
  return found;
}

interface Search {
  found: AbsentField[];
  max: number;
}

function searchObject({ fields }: ObjectPlan, data: Data, at: ResultPath, search: Search): void {
  for (const { key, source } of fields) {
    if (search.found.length >= search.max) return;
    if (source.kind !== 'data') continue;
    const { from, slot } = source;
    const value = Object.hasOwn(data, from) ? data[from] : undefined;
    if (value === undefined) search.found.push({ from, path: [...at, key] });
    else searchSlot(slot, value, [...at, key], search);
  }
}

function searchSlot({ value: plan }: Slot, value: unknown, at: ResultPath, search: Search): void {
  if (typeof value !== 'object' || value === null || plan.kind === 'leaf') return;
  if (plan.kind === 'list') {
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) searchSlot(plan.item, item, [...at, index], search);
    return;
  }
  const object = plan.kind === 'object' ? plan.object : plan.planOf((value as Data).__typename);
  if (object) searchObject(object, value as Data, at, search);
}

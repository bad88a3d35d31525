import type { Data, ResultPath } from '../execution/data-paths.ts';
import type { ObjectPlan, Slot } from './projection-plan.ts';

/** A field of the result that no service has returned, not even as null. */
export interface AbsentField {
  /** The field's key in the services' data. */
  from: string;
  path: ResultPath;
}

/** Finds the first `max` absent fields of objects that are present. */
export function absentFields(plan: ObjectPlan, data: Data, max: number): AbsentField[] {
  const found: AbsentField[] = [];
  inObject(plan, data, [], { found, max });
  return found;
}

interface Search {
  found: AbsentField[];
  max: number;
}

function inObject({ fields }: ObjectPlan, data: Data, at: ResultPath, search: Search): void {
  for (const { key, source } of fields) {
    if (search.found.length >= search.max) return;
    if (source.kind !== 'data') continue;
    const { from, slot } = source;
    const value = Object.hasOwn(data, from) ? data[from] : undefined;
    if (value === undefined) search.found.push({ from, path: [...at, key] });
    else inSlot(slot, value, [...at, key], search);
  }
}

function inSlot({ value: plan }: Slot, value: unknown, at: ResultPath, search: Search): void {
  if (typeof value !== 'object' || value === null || plan.kind === 'leaf') return;
  if (plan.kind === 'list') {
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) inSlot(plan.item, item, [...at, index], search);
    return;
  }
  const object = plan.kind === 'object' ? plan.object : plan.planOf((value as Data).__typename);
  if (object) inObject(object, value as Data, at, search);
}

import { isExactInteger } from '../exact-json.ts';
import type { Data } from './data-paths.ts';
import { takeValue, type Room } from '../result-size.ts';

/** Merges an object from a service's response into the object in the data. Parts of `source` are reused, not copied. */
export function merge(target: Data, source: Data): void {
  for (const key in source) {
    const value = source[key];
    // Setting `__proto__` would change the prototype; no GraphQL field has this name.
    if (value === undefined || key === '__proto__') continue;
    const known = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isObject(known) && isObject(value)) mergeObjects(target, key, known, value);
    else target[key] = value;
  }
}

function mergeObjects(target: Data, key: string, known: object, value: object): void {
  if (!Array.isArray(known) && !Array.isArray(value)) merge(known as Data, value as Data);
  else if (Array.isArray(known) && Array.isArray(value) && known.length === value.length) mergeItems(known, value);
  else target[key] = value;
}

function mergeItems(known: unknown[], items: readonly unknown[]): void {
  for (let index = 0; index < items.length; index++) {
    const [was, is] = [known[index], items[index]];
    if (Array.isArray(was) && Array.isArray(is) && was.length === is.length) mergeItems(was, is);
    else if (isObject(was) && isObject(is) && !Array.isArray(was) && !Array.isArray(is)) merge(was as Data, is as Data);
    else known[index] = is;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isExactInteger(value);
}

/** @throws ResultTooLarge if there is no room for the copy */
export function copyOf<Value>(value: Value, room?: Room): Value {
  if (room) takeValue(room);
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item, room)) as Value;
  if (!isObject(value)) return value;
  const copy: Data = {};
  for (const key of Object.keys(value)) if (key !== '__proto__') copy[key] = copyOf((value as Data)[key], room);
  return copy as Value;
}

import type { Data } from '../projection/data.ts';

/** A path through the data: field names, and `@` for all items of a list. */
export type DataPath = readonly string[];

export type ResultPath = (string | number)[];

/** All objects at the end of a path. */
export function objectsAt(data: unknown, path: DataPath): Data[] {
  const found: Data[] = [];
  collect(data, path, 0, found);
  return found;
}

function collect(value: unknown, path: DataPath, depth: number, found: Data[]): void {
  if (typeof value !== 'object' || value === null) return;
  const step = path[depth];
  if (Array.isArray(value)) {
    // A list at the end of the path is searched for objects, even without an `@` in the path.
    const next = step === '@' ? depth + 1 : depth;
    for (const item of value) collect(item, path, next, found);
    return;
  }
  if (step === undefined) found.push(value as Data);
  else if (step !== '@' && Object.hasOwn(value, step)) collect((value as Data)[step], path, depth + 1, found);
}

/** Finds the result paths of the wanted objects among those at the end of `path`. An object may have several paths. */
export function pathsTo(
  wanted: Pick<ReadonlySet<unknown>, 'has' | 'size'>,
  data: unknown,
  path: DataPath,
): Map<unknown, ResultPath[]> {
  const found = new Map<unknown, ResultPath[]>();
  const walk = (value: unknown, depth: number, at: ResultPath) => {
    if (typeof value !== 'object' || value === null) return;
    const step = path[depth];
    if (Array.isArray(value)) {
      const next = step === '@' ? depth + 1 : depth;
      for (const [index, item] of value.entries()) walk(item, next, [...at, index]);
    } else if (step !== undefined) {
      if (step !== '@' && Object.hasOwn(value, step)) walk((value as Data)[step], depth + 1, [...at, step]);
    } else if (wanted.has(value)) {
      const known = found.get(value);
      if (known) known.push(at);
      else found.set(value, [at]);
    }
  };
  if (wanted.size > 0) walk(data, 0, []);
  return found;
}

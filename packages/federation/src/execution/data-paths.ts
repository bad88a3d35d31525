/** The merged responses of services. Field names may coincide with properties that all objects inherit. */
export type Data = Record<string, unknown>;

/** A path through the data: field names, and `@` for all items of a list. */
export type DataPath = readonly string[];

export type ResultPath = (string | number)[];

/** All objects at the end of a path. */
export function objectsAt(data: unknown, path: DataPath): Data[] {
  const found: Data[] = [];
  walk(data, path, 0, undefined, (object) => found.push(object));
  return found;
}

/** Finds the result paths of the wanted objects among those at the end of `path`. An object may have several paths. */
export function pathsTo(
  wanted: Pick<ReadonlySet<unknown>, 'has' | 'size'>,
  data: unknown,
  path: DataPath,
): Map<unknown, ResultPath[]> {
  const found = new Map<unknown, ResultPath[]>();
  const note = (object: Data, at: ResultPath = []) => {
    const known = found.get(object);
    if (known) known.push(at);
    else if (wanted.has(object)) found.set(object, [at]);
  };
  if (wanted.size > 0) walk(data, path, 0, [], note);
  return found;
}

type Found = (object: Data, at: ResultPath | undefined) => void;

/** Without a path of its own (`at`), which costs time, `found` gets none. */
function walk(value: unknown, path: DataPath, depth: number, at: ResultPath | undefined, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  const step = path[depth];
  if (Array.isArray(value)) {
    // A list at the end of the path is searched for objects, even without an `@` in the path.
    const next = step === '@' ? depth + 1 : depth;
    for (const [index, item] of value.entries()) walk(item, path, next, at && [...at, index], found);
  } else if (step === undefined) found(value as Data, at);
  else if (step !== '@' && Object.hasOwn(value, step))
    walk((value as Data)[step], path, depth + 1, at && [...at, step], found);
}

export type Data = Record<string, unknown>;

/** Reads a key of an answer. Only names that all objects inherit need the slower check. */
export function reader(key: string): (data: Data) => unknown {
  if (!(key in Object.prototype)) return (data) => data[key];
  return (data) => (Object.hasOwn(data, key) ? data[key] : undefined);
}

export function isInherited(key: string): boolean {
  return key in Object.prototype;
}

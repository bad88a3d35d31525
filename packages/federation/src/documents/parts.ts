import type { Resized } from '../federated-executor.ts';

/**
 * Returns the part of an operation with this name, such as its plan, and makes it when it is first needed. Parts are kept,
 * counted and evicted with the document.
 * @param make reports the part's bytes to `resized`, now and whenever they change
 */
export interface PartOf {
  <Part>(name: string, make: (resized: Resized) => Part): Part;
  /** Whether the part has been made. */
  has(name: string): boolean;
}

/** Parts of an operation that is kept elsewhere, or not at all. */
export function createParts(resized: Resized = () => undefined): PartOf {
  const made = new Map<string, unknown>();
  const partOf = <Part>(name: string, make: (resized: Resized) => Part): Part => {
    if (made.has(name)) return made.get(name) as Part; // made by an earlier call for the same name
    const part = make(resized);
    made.set(name, part);
    return part;
  };
  return Object.assign(partOf, { has: (name: string) => made.has(name) });
}

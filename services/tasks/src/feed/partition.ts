/** The number of the topic's partitions, and of relays that can work in parallel. */
export const PARTITIONS = 8;

/**
 * The part of the change log that has an owner's changes. It is stored with each change, so it must never change for an
 * owner. (FNV-1a, because the bits of the ids are not evenly distributed.)
 */
export function partOf(ownerId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ownerId.length; index++) {
    hash ^= ownerId.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}

/** How many relays can work side by side, and into how many partitions the topic is divided. */
export const PARTITIONS = 8;

/**
 * Which part of the change log an owner's changes are in. Stored with each change, so it must never change for an owner
 * (FNV-1a: the ids' own bits are not spread evenly).
 */
export function partOf(ownerId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ownerId.length; index++) {
    hash ^= ownerId.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}

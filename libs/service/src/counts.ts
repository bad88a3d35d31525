/** Adds to the number of a key, which is 0 where it is absent. Returns the number that there is then. */
export function count(counts: Map<string, number>, key: string, more: number): number {
  const number = (counts.get(key) ?? 0) + more;
  if (number > 0) counts.set(key, number);
  else counts.delete(key);
  return number;
}

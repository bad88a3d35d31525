/** Adds to a key's count and returns the new count. An absent key counts as 0; a count of 0 is deleted. */
export function count(counts: Map<string, number>, key: string, more: number): number {
  const number = (counts.get(key) ?? 0) + more;
  if (number > 0) counts.set(key, number);
  else counts.delete(key);
  return number;
}

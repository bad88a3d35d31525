import type { Task } from '@taskmesh/client';
import { useRef } from 'preact/hooks';

/** The sorted categories of all tasks seen so far, so that filtered lists suggest them as well. */
export function useCategories(tasks: readonly Task[]): readonly string[] {
  const seen = useRef<readonly string[]>([]);
  const known = new Set(seen.current);
  const fresh = new Set(tasks.flatMap(({ category }) => (category && !known.has(category) ? [category] : [])));
  if (fresh.size > 0) seen.current = [...known, ...fresh].toSorted((one, other) => one.localeCompare(other));
  return seen.current;
}

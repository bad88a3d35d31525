import type { LiveTask, Task } from '@taskmesh/client';
import { useLiveTasks, type UsedTasks } from '@taskmesh/client/react';
import { useMemo, useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { filtersOf, listOf, NO_FILTERS, type Filters } from './filters.ts';
import { keepLists } from './keep-lists.ts';

export interface TaskList extends UsedTasks {
  filters: Filters;
  categories: readonly string[];
  /** The tasks are those of the previous list, because this one is still loading. */
  isStale: boolean;
}

/**
 * The list in the view of tasks, for as long as the user is signed in: it stays live behind other views, and keeps its tasks
 * while the server is away. `query`: the parameters in the address while it names this view.
 */
export function useTaskList(query: URLSearchParams | undefined, isAway: boolean): TaskList {
  const client = useClient();
  const lists = useMemo(() => keepLists(client), [client]);
  const filters = useRef(NO_FILTERS);
  if (query) filters.current = filtersOf(query);
  const list = useLiveTasks(lists, listOf(filters.current));
  const before = useRef<readonly LiveTask[]>([]);
  // While the server is away, the new list may not load for a long time.
  const isStale = !isAway && list.status === 'loading' && list.tasks.length === 0 && before.current.length > 0;
  if (!isStale && list.status !== 'idle') before.current = list.tasks;
  const tasks = isStale ? before.current : list.tasks;
  return { ...list, tasks, isStale, filters: filters.current, categories: useCategories(tasks) };
}

/** The sorted categories of all tasks seen so far, so that filtered lists suggest them as well. */
function useCategories(tasks: readonly Task[]): readonly string[] {
  const seen = useRef<readonly string[]>([]);
  const known = new Set(seen.current);
  const fresh = new Set(tasks.flatMap(({ category }) => (category && !known.has(category) ? [category] : [])));
  if (fresh.size > 0) seen.current = [...known, ...fresh].toSorted((one, other) => one.localeCompare(other));
  return seen.current;
}

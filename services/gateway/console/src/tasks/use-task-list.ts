import type { Client, LiveTask, LiveTasks, Task } from '@taskmesh/client';
import { useLiveTasks, type UsedTasks } from '@taskmesh/client/react';
import { useMemo, useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { filtersOf, listOf, NO_FILTERS, type Filters } from './filters.ts';

export interface TaskList extends UsedTasks {
  filters: Filters;
  categories: readonly string[];
  /** Whether `tasks` is still the previous list, because this one is loading. */
  isStale: boolean;
}

/**
 * The list of the tasks view, for as long as the user is signed in: it stays live behind other views, and keeps its tasks
 * while the server is unreachable. `query`: the parameters in the address, or undefined in other views.
 */
export function useTaskList(query: URLSearchParams | undefined, isUnavailable: boolean): TaskList {
  const client = useClient();
  const lists = useMemo(() => keepLists(client), [client]);
  const filters = useRef(NO_FILTERS);
  if (query) filters.current = filtersOf(query);
  const list = useLiveTasks(lists, listOf(filters.current));
  const before = useRef<readonly LiveTask[]>([]);
  // While the server is unreachable, the new list may take long to load, so the previous one is not shown in its place.
  const isStale = !isUnavailable && list.status === 'loading' && list.tasks.length === 0 && before.current.length > 0;
  if (!isStale && list.status !== 'idle') before.current = list.tasks;
  const tasks = isStale ? before.current : list.tasks;
  return { ...list, tasks, isStale, filters: filters.current, categories: useCategories(tasks) };
}

const MAX_CATEGORIES = 200;

/** The sorted categories of the tasks seen so far, so that a filtered list suggests them too. Keeps those seen last. */
function useCategories(tasks: readonly Task[]): readonly string[] {
  const seen = useRef<readonly string[]>([]);
  return useMemo(() => {
    const latest = new Set(tasks.flatMap(({ category }) => category ?? []));
    const earlier = seen.current.filter((category) => !latest.has(category));
    seen.current = [...earlier, ...latest].slice(-MAX_CATEGORIES);
    return seen.current.toSorted((one, other) => one.localeCompare(other));
  }, [tasks]);
}

const MAX_LISTS = 8;

/** Caches lists by their options, so that returning to one shows it at once. Evicts the least recently used list. */
export function keepLists(client: Pick<Client, 'liveTasks'>): Pick<Client, 'liveTasks'> {
  const lists = new Map<string, LiveTasks>();
  return {
    liveTasks(options) {
      const text = JSON.stringify(options);
      const list = lists.get(text) ?? client.liveTasks(options);
      lists.delete(text);
      lists.set(text, list);
      const [oldest = ''] = lists.keys();
      if (lists.size > MAX_LISTS) lists.delete(oldest);
      return list;
    },
  };
}

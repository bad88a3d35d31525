import type { LiveTask, LiveTasksOptions } from '@taskmesh/client';
import { useLiveTasks, type UsedTasks } from '@taskmesh/client/react';
import { useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';

/** A live list. While another one is read for the first time, the tasks of the former one stay. */
export function useList(options: LiveTasksOptions): UsedTasks & { isStale: boolean } {
  const list = useLiveTasks(useClient(), options);
  const before = useRef<readonly LiveTask[]>([]);
  const isStale = list.status === 'loading' && list.tasks.length === 0 && before.current.length > 0;
  if (!isStale && list.status !== 'idle') before.current = list.tasks;
  return { ...list, tasks: isStale ? before.current : list.tasks, isStale };
}

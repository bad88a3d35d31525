import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from './client.ts';
import type { LiveTasks, LiveTasksOptions, LiveTasksSnapshot } from './list/live-tasks.ts';
import type { User } from './session.ts';

export interface UsedTasks extends LiveTasksSnapshot {
  loadMore: LiveTasks['loadMore'];
}

/** Returns a list that stays live while the component is mounted. Equal options reuse the same list. */
export function useLiveTasks(client: Pick<Client, 'liveTasks'>, options: LiveTasksOptions = {}): UsedTasks {
  const text = JSON.stringify(options);
  const list = useMemo(() => client.liveTasks(JSON.parse(text) as LiveTasksOptions), [client, text]);
  const snapshot = useSyncExternalStore(list.subscribe, list.get, list.get);
  return useMemo(() => ({ ...snapshot, loadMore: list.loadMore }), [snapshot, list]);
}

/** The signed-in user; null if no one is signed in, undefined until the storage has been read. */
export function useUser(client: Client): User | null | undefined {
  return useSyncExternalStore(client.onUser, client.user, client.user);
}

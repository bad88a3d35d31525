import type { Client, LiveTasks } from '@taskmesh/client';

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

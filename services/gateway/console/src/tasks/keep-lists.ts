import type { Client, LiveTasks } from '@taskmesh/client';

/** The maximum number of lists that are kept. */
const KEPT = 8;

/** Keeps lists by their options, so that going back to one shows it at once. The least recently used one is dropped. */
export function keepLists(client: Pick<Client, 'liveTasks'>): Pick<Client, 'liveTasks'> {
  const lists = new Map<string, LiveTasks>();
  return {
    liveTasks(options) {
      const text = JSON.stringify(options);
      const list = lists.get(text) ?? client.liveTasks(options);
      lists.delete(text);
      lists.set(text, list);
      const [oldest = ''] = lists.keys();
      if (lists.size > KEPT) lists.delete(oldest);
      return list;
    },
  };
}

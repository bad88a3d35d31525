import type { Client, LiveTasks } from '@taskmesh/client';

/** More than somebody goes to and fro between. */
const KEPT = 8;

/** Lists by their options: one that somebody comes back to goes on where it was. The one used longest ago makes room. */
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

import type { Account, Client } from './client.ts';

/** Returns all tasks of an account as text: the list, the statistics, and the total count, which paging does not limit. */
export async function snapshotOf(client: Client, { token }: Account): Promise<string> {
  const [list, stats, reduced] = await Promise.all([
    client.call('GET', '/full/api/tasks', { token }),
    client.call('GET', '/full/api/tasks/stats', { token }),
    client.call('GET', '/reduced/api/tasks?limit=1', { token }),
  ]);
  if (list.status !== 200 || stats.status !== 200 || reduced.status !== 200)
    throw new Error('the account cannot be read any more');
  return [list.text, stats.text, reduced.body.total].join('\n');
}

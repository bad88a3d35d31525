import { databaseUrl, serviceDatabase, withPostgres } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

const DEADLINE_MS = 60_000;

export const tasksDatabaseOn = (postgresUrl: string) => databaseUrl(postgresUrl, serviceDatabase('tasks'));

/** Resolves when every change of the tasks store is published: a write is paid for in full only then. */
export function changesPublished(postgresUrl: string): Promise<void> {
  return withPostgres(tasksDatabaseOn(postgresUrl), async (client) => {
    for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(50))
      if (await isPublished(client)) return;
    throw new Error(`Changes are not published after ${DEADLINE_MS / 1000} s.`);
  });
}

export async function isPublished(client: Client): Promise<boolean> {
  const { rows } = await client.query('select 1 from changes where published_at is null limit 1');
  return rows.length === 0;
}

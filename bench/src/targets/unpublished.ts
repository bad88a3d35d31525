import { databaseUrl, serviceDatabase } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

const DEADLINE_MS = 60_000;

/** Resolves when every change of the tasks store is published: a write is paid for in full only then. */
export async function changesPublished(postgresUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl(postgresUrl, serviceDatabase('tasks')) });
  await client.connect();
  try {
    for (const deadline = Date.now() + DEADLINE_MS; ;) {
      const { rows } = await client.query<{ left: boolean }>(
        'select exists(select 1 from changes where published_at is null) as left',
      );
      if (!rows[0]?.left) return;
      if (Date.now() > deadline) throw new Error(`Changes are not published after ${DEADLINE_MS / 1000} s.`);
      await sleep(50);
    }
  } finally {
    await client.end();
  }
}

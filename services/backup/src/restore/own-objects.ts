import { rm } from 'node:fs/promises';
import { withAdmin } from '../databases/connect.ts';
import { dumpStore } from '../dump/dump-store.ts';
import { countSkipped } from '../loader/load-dump.ts';
import type { Skipped } from '../loader/dump-schema.ts';

interface FreshStore {
  /** The URL of the database that its owner has turned into a store. */
  url: string;
  path: string;
  signal: AbortSignal;
}

/**
 * What was skipped of an archive made by Taskmesh, without the store's own indexes, constraints and triggers, which its
 * migrations create.
 */
export async function withoutOwn(skipped: Skipped[], { url, path, signal }: FreshStore): Promise<Skipped[]> {
  if (skipped.length === 0) return skipped;
  try {
    await withAdmin(url, async (client) => {
      await client.query('begin transaction isolation level repeatable read read only');
      await dumpStore({ client, path, declared: {}, withoutRows: true });
    });
    const own = new Map((await countSkipped({ path, signal })).map(({ kind, count }) => [kind, count]));
    return skipped
      .map(({ kind, count }) => ({ kind, count: count - (own.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0);
  } catch {
    return skipped; // reports too much, but nothing else depends on it
  } finally {
    await rm(path, { force: true });
  }
}

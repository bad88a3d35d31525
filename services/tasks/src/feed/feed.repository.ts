import type { Database } from '@taskmesh/database';
import type { ChangeRow } from './change.ts';
import { CHANGES_AFTER, HEADS } from './feed.statements.ts';

/** Every answer includes the epoch, read in the same statement. */
export type FeedRepository = ReturnType<typeof createFeedRepository>;

type ChangesAfterRow = { epoch: number; head: string } & (ChangeRow | { id: null });

export function createFeedRepository(database: Pick<Database, 'run'>) {
  return {
    async heads(ids: string[]) {
      const rows = await database.run<{ epoch: number; owner_id: string | null; head: string }>('read', HEADS, [ids]);
      return { epoch: rows[0]?.epoch ?? 0, heads: new Map(rows.map((row) => [row.owner_id, Number(row.head)])) };
    },

    async changesAfter(owner: string, sequence: number, limit: number) {
      const rows = await database.run<ChangesAfterRow>('read', CHANGES_AFTER, [owner, sequence, limit]);
      const { epoch = 0, head = '0' } = rows[0] ?? {};
      return { epoch, head: Number(head), changes: rows.filter((row) => row.id !== null) };
    },
  };
}

import { inTransaction, readBacklog, type Backlog, type Database } from '@taskmesh/store';
import type { AccountDeleted, AccountLogPosition } from '@taskmesh/internal-api';
import { COUNT_TASKS, FIRST_OWNER, LAST_OWNER } from '../feed/feed.statements.ts';
import { partOf } from '../feed/change.ts';
import { countOf } from '../rows.ts';
import * as statements from './owner.statements.ts';

const COUNT_TIMEOUT_MS = 600_000;
const TASKS_PER_BATCH = 10_000;

export type OwnerRepository = ReturnType<typeof createOwnerRepository>;

export function createOwnerRepository(database: Pick<Database, 'run' | 'openSession'>) {
  return {
    async position(): Promise<AccountLogPosition> {
      const [row] = await database.run<{ epoch: number; sequence: string }>('read', statements.POSITION, []);
      if (!row) throw new Error('The store has no position in the account log.');
      return { epoch: row.epoch, sequence: Number(row.sequence) };
    },

    /** Counts the tasks of all owners, in batches, as an owner's first write waits until the batch with its count is committed. */
    async countTasks(): Promise<void> {
      const session = await database.openSession({ timeoutMs: COUNT_TIMEOUT_MS });
      const countAfter = (owner: string) =>
        inTransaction(session, async () => {
          await session.run(statements.LOCK_POSITION);
          const [last] = await session.run<{ id: string }>(COUNT_TASKS, [owner, TASKS_PER_BATCH]);
          return last?.id ?? LAST_OWNER;
        });
      try {
        let last: string = FIRST_OWNER;
        while (last < LAST_OWNER) last = await countAfter(last);
      } finally {
        await session.close();
      }
    },

    isClosed: async (ownerId: string): Promise<boolean> =>
      (await database.run('read', statements.IS_CLOSED, [ownerId])).length > 0,

    /** Closes the owner of a deleted account. Returns false if the position has changed. */
    async close(
      from: AccountLogPosition,
      { epoch, sequence, accountId, occurredAt }: AccountDeleted,
    ): Promise<boolean> {
      const values = [from.epoch, from.sequence, epoch, sequence, accountId, occurredAt];
      return (await database.run('write', statements.CLOSE, values)).length > 0;
    },

    async moveTo(from: AccountLogPosition, epoch: number): Promise<void> {
      await database.run('write', statements.MOVE, [from.epoch, from.sequence, epoch]);
    },

    /** Closed owners with ids above `after`, ordered by id. */
    async listClosed(after: string, limit: number): Promise<string[]> {
      const rows = await database.run<{ owner_id: string }>('read', statements.CLOSED, [after, limit]);
      return rows.map(({ owner_id }) => owner_id);
    },

    /** Returns the number of deleted tasks. */
    deleteTasks: (ownerId: string, now: Date, limit: number): Promise<number> =>
      countOf(database, statements.DELETE_TASKS, [partOf(ownerId), limit, now, ownerId]),

    /** Returns the number of erased changes: 0 while one of them is unpublished. */
    eraseChanges: (ownerId: string, limit: number): Promise<number> =>
      countOf(database, statements.ERASE_CHANGES, [ownerId, limit]),

    /** Returns the largest number of rows deleted from a single table: 0 while tasks or changes are left. */
    eraseOthers: (ownerId: string, limit: number): Promise<number> =>
      countOf(database, statements.ERASE_OTHERS, [ownerId, limit]),

    /** Closed owners with rows that remain to be deleted. */
    backlog: (): Promise<Backlog> => readBacklog(database, statements.BACKLOG),

    /** Returns whether nothing of the owner is left. */
    async finish(ownerId: string): Promise<boolean> {
      return (await database.run('write', statements.FINISH, [ownerId])).length > 0;
    },
  };
}

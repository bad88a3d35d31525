import { compareRows, copyRows, type CopiedTable } from '@taskmesh/pg-rows/mirror';
import {
  columnsOf,
  createImporter,
  inTransaction,
  MAX_VERSION,
  RESTORED,
  valueOf,
  type Columns,
  type ImporterOptions,
  type SqlSession,
  type Stores,
} from '@taskmesh/store';
import type { TasksRestore } from '@taskmesh/internal-api';
import { COUNT_TASKS, NEW_CURSOR_KEY, ALL_OWNERS_PARAMETERS } from '../feed/feed.statements.ts';
import { OWNED } from '../owners/owner.statements.ts';
import { taskRules } from './rules.ts';

const POSITION = 'select epoch, sequence::text as sequence from public.account_position';

/** $1, $2: epoch and sequence */
const SET_POSITION = 'update public.account_position set epoch = $1::integer, sequence = $2::bigint';

const FORGET_EARLIER = 'truncate public.closed_owners';

const endedFeeds: CopiedTable = {
  name: 'feeds',
  key: 'owner_id',
  keyType: 'uuid',
  which: 'ends_at is not null',
  put: `
    insert into public.feeds (owner_id, sequence, ends_at) select owner_id, 0, 0 from batch
    on conflict (owner_id) do update set sequence = 0, ends_at = 0, tasks = 0`,
};

const ERASURE = OWNED.map(
  ({ table, owner }) =>
    `delete from ${table} where ${owner} in (select owner_id from public.feeds where ends_at is not null)`,
);

/**
 * Runs inside a transaction in `to`, whose feeds are new. Keeps the owners of deleted accounts closed and removes their restored
 * rows; this writes no changes, as their feeds have ended. The rest of the account log is read after the swap.
 */
async function keepOwnersClosed(stores: Stores): Promise<void> {
  const { from, to } = stores;
  // Read the position first: owners that are closed meanwhile are then closed again.
  const [position] = await from.run<{ epoch: number; sequence: string }>(POSITION);
  await to.run(FORGET_EARLIER);
  await copyRows(stores, endedFeeds);
  for (const text of ERASURE) await to.run(text);
  await to.run(SET_POSITION, [position?.epoch ?? 0, position?.sequence ?? '0']);
}

const EPOCH = 'select epoch from public.feed_state';

/** Selects the epoch of the store that was backed up; 0 if it had no valid one. */
function restoredEpoch(columns: Columns): string {
  const epoch = valueOf(columns, 'epoch', 'integer');
  return `
      select coalesce(max(case when ${epoch} between 1 and ${MAX_VERSION} then ${epoch} end), 0) as epoch
      from ${RESTORED}.feed_state r`;
}

/** $1: epoch. The migrations of this database have already created a new key. */
const BEGIN_EPOCH = 'update public.feed_state set epoch = $1::integer';

/** $1: the live store's epoch. */
const RESUME = `
    update public.feed_state set epoch = 1 + greatest(epoch, $1::integer), cursor_key = ${NEW_CURSOR_KEY}`;

const FORGET_CHANGES = 'truncate public.changes, public.feeds';

const readEpoch = async (session: SqlSession, statement = EPOCH): Promise<number> =>
  (await session.run<{ epoch: number }>(statement))[0]?.epoch ?? 0;

/** Gives an imported store an epoch above that of the live store and that of the backup. */
async function beginEpoch({ from, to }: Stores): Promise<void> {
  const columns = await columnsOf(to, 'feed_state');
  const restored = columns.has('epoch') ? await readEpoch(to, restoredEpoch(columns)) : 0;
  await to.run(BEGIN_EPOCH, [1 + Math.max(await readEpoch(from), restored)]);
  await to.run(COUNT_TASKS, ALL_OWNERS_PARAMETERS);
}

/** Like `beginEpoch`, for a database that used to be the live store. Discards its changes. */
async function resumeEpoch({ from, to }: Stores): Promise<void> {
  await to.run(FORGET_CHANGES);
  await to.run(COUNT_TASKS, ALL_OWNERS_PARAMETERS);
  await to.run(RESUME, [await readEpoch(from)]);
}

export interface TasksImportDeps extends Pick<ImporterOptions, 'url' | 'databaseAt' | 'log'> {
  /** In the live store. */
  newEpoch: TasksRestore['newEpoch'];
}

/** Turns the database of a restored backup into a store. The rows do not pass through this process. */
export function createTasksImport({ newEpoch, ...deps }: TasksImportDeps): TasksRestore {
  const { importDatabase, resume, withStores } = createImporter({
    ...deps,
    name: 'taskmesh-tasks-import',
    rules: {
      ...taskRules,
      async complete(stores) {
        await beginEpoch(stores);
        await keepOwnersClosed(stores);
      },
    },
  });

  return {
    importDatabase,
    newEpoch,
    resume: (database) =>
      resume(database, (stores) =>
        inTransaction(stores.to, async () => {
          await resumeEpoch(stores);
          await keepOwnersClosed(stores);
        }),
      ),
    compare: (database) =>
      withStores(database, async (stores) => ({ tables: { tasks: await compareRows(stores, { name: 'tasks' }) } })),
  };
}

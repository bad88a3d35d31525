import {
  type Session,
  type Statement,
  columnsOf,
  LARGEST_VERSION,
  RESTORED,
  valueOf,
  type Columns,
  type Stores,
} from '@taskmesh/store';
import { COUNT_TASKS, NEW_CURSOR_KEY, OF_ALL_OWNERS } from '../feed/feed.statements.ts';

const EPOCH: Statement = { name: 'import-living-epoch', text: 'select epoch from public.feed_state' };

/** The epoch of the store that was backed up; 0 when it had no valid one. */
function restoredEpoch(columns: Columns): Statement {
  const epoch = valueOf(columns, 'epoch', 'integer');
  return {
    name: 'import-restored-epoch',
    text: `
      select coalesce(max(case when ${epoch} between 1 and ${LARGEST_VERSION} then ${epoch} end), 0) as epoch
      from ${RESTORED}.feed_state r`,
  };
}

/** $1: epoch. The migrations of this database have already made a new key. */
const BEGIN_EPOCH: Statement = {
  name: 'import-begin-epoch',
  text: 'update public.feed_state set epoch = $1::integer',
};

/** $1: the live store's epoch. */
const RESUME: Statement = {
  name: 'import-resume',
  text: `
    update public.feed_state set epoch = 1 + greatest(epoch, $1::integer), cursor_key = ${NEW_CURSOR_KEY}`,
};

const FORGET_CHANGES: Statement = {
  name: 'import-forget-changes',
  text: 'truncate public.changes, public.feeds',
};

const readEpoch = async (session: Session, statement = EPOCH): Promise<number> =>
  (await session.run<{ epoch: number }>(statement))[0]?.epoch ?? 0;

/** Gives an imported store an epoch above that of the live store and that of the backup. */
export async function beginEpoch({ from, to }: Stores): Promise<void> {
  const columns = await columnsOf(to, 'feed_state');
  const restored = columns.has('epoch') ? await readEpoch(to, restoredEpoch(columns)) : 0;
  await to.run(BEGIN_EPOCH, [1 + Math.max(await readEpoch(from), restored)]);
  await to.run(COUNT_TASKS, OF_ALL_OWNERS);
}

/** Does the same for a database that was the live store, whose changes become void. */
export async function resumeEpoch({ from, to }: Stores): Promise<void> {
  await to.run(FORGET_CHANGES);
  await to.run(COUNT_TASKS, OF_ALL_OWNERS);
  await to.run(RESUME, [await readEpoch(from)]);
}

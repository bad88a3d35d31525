import type { Session, Statement } from '@taskmesh/database';
import { columnsOf, LARGEST_VERSION, RESTORED, valueOf, type Columns, type Stores } from '@taskmesh/restore-import';
import { NEW_CURSOR_KEY } from '../feed/feed.statements.ts';

const EPOCH: Statement = { name: 'import-living-epoch', text: 'select epoch from public.feed_state' };

/** The epoch of the store that was backed up; 0 when it had none that makes sense. */
function restoredEpoch(columns: Columns): Statement {
  const epoch = valueOf(columns, 'epoch', 'integer');
  return {
    name: 'import-restored-epoch',
    text: `
      select coalesce(max(case when ${epoch} between 1 and ${LARGEST_VERSION} then ${epoch} end), 0) as epoch
      from ${RESTORED}.feed_state r`,
  };
}

/** $1 epoch. The key is a new one already: the migrations made it in this database. */
const BEGIN_EPOCH: Statement = {
  name: 'import-begin-epoch',
  text: 'update public.feed_state set epoch = $1::integer',
};

/** $1 the living store's epoch. Nothing of the earlier epochs is published again. */
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

/** An imported store's epoch: above the living one's, and above that of the store that was backed up. */
export async function beginEpoch({ from, to }: Stores): Promise<void> {
  const columns = await columnsOf(to, 'feed_state');
  const restored = columns.has('epoch') ? await readEpoch(to, restoredEpoch(columns)) : 0;
  await to.run(BEGIN_EPOCH, [1 + Math.max(await readEpoch(from), restored)]);
}

/** The same for a database that was the living store, whose changes are void. */
export async function resumeEpoch({ from, to }: Stores): Promise<void> {
  await to.run(FORGET_CHANGES);
  await to.run(RESUME, [await readEpoch(from)]);
}

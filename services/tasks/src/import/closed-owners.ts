import type { Statement } from '@taskmesh/database';
import { copyRows, type CopiedTable, type Stores } from '@taskmesh/restore-import';

const POSITION: Statement = {
  name: 'import-account-position',
  text: 'select epoch, sequence::text as sequence from public.account_position',
};

/** $1, $2: epoch and sequence */
const SET_POSITION: Statement = {
  name: 'import-set-account-position',
  text: 'update public.account_position set epoch = $1::integer, sequence = $2::bigint',
};

const FORGET_EARLIER: Statement = { name: 'import-forget-closed-owners', text: 'truncate public.closed_owners' };

const endedFeeds: CopiedTable = {
  name: 'feeds',
  key: 'owner_id',
  keyType: 'uuid',
  which: 'ends_at is not null',
  put: 'insert into public.feeds (owner_id, sequence, ends_at) select owner_id, 0, 0 from batch',
};

const DELETE_TASKS: Statement = {
  name: 'import-delete-tasks-of-closed',
  text: `
    delete from public.tasks
    where user_id in (select owner_id from public.feeds where ends_at is not null)`,
};

/**
 * Within a transaction in `to`, whose feeds begin anew: owners whose accounts were deleted stay closed, and what the archive
 * holds of them goes without a change, for nobody follows their feeds. What of the account log was not read yet will be.
 */
export async function keepOwnersClosed(stores: Stores): Promise<void> {
  const { from, to } = stores;
  // Read first: owners who are closed meanwhile are closed again.
  const [position] = await from.run<{ epoch: number; sequence: string }>(POSITION);
  await to.run(FORGET_EARLIER);
  await copyRows(stores, endedFeeds);
  await to.run(DELETE_TASKS);
  await to.run(SET_POSITION, [position?.epoch ?? 0, position?.sequence ?? '0']);
}

import { type Statement, copyRows, type CopiedTable, type Stores } from '@taskmesh/store';
import { OWNED } from '../owners/erasure.ts';

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
  put: `
    insert into public.feeds (owner_id, sequence, ends_at) select owner_id, 0, 0 from batch
    on conflict (owner_id) do update set sequence = 0, ends_at = 0, tasks = 0`,
};

const ERASURE = OWNED.map(
  ({ table, owner }) =>
    `delete from ${table} where ${owner} in (select owner_id from public.feeds where ends_at is not null)`,
);

/**
 * Runs inside a transaction in `to`, whose feeds are new. Owners of deleted accounts stay closed, and their restored rows are
 * removed, without changes because their feeds have ended. The rest of the account log is read after the swap.
 */
export async function keepOwnersClosed(stores: Stores): Promise<void> {
  const { from, to } = stores;
  // Read first: owners that are closed meanwhile are then closed once more.
  const [position] = await from.run<{ epoch: number; sequence: string }>(POSITION);
  await to.run(FORGET_EARLIER);
  await copyRows(stores, endedFeeds);
  for (const [index, text] of ERASURE.entries()) await to.run({ name: `import-erase-closed-${index}`, text });
  await to.run(SET_POSITION, [position?.epoch ?? 0, position?.sequence ?? '0']);
}

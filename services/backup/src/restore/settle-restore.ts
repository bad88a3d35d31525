import { databaseOf } from '@taskmesh/database';
import { dropFresh } from '../databases/fresh-database.ts';
import { restoreNames } from '../databases/names.ts';
import { dropOld, existing, swapDatabases } from '../databases/swap.ts';
import type { Store, StoreName } from '../stores/store.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';

export const namesOf = ({ adminUrl }: Store, id: string) => restoreNames(databaseOf(adminUrl), id);

/**
 * Brings an interrupted restore to an end, from whatever the servers hold: when no store was replaced yet, all of it is
 * undone; when one was, the others follow. May be repeated until it succeeds.
 */
export async function settleRestore(
  { id, stores: storeNames, stage }: Pick<Restore, 'id' | 'stores' | 'stage'>,
  { stores, journal, now }: { stores: Record<StoreName, Store>; journal: RestoreRepository; now: () => Date },
): Promise<'restored' | 'undone'> {
  const states = await Promise.all(
    storeNames.map(async (name) => {
      const names = namesOf(stores[name], id);
      return { store: stores[name], names, there: await existing(stores[name].adminUrl, names) };
    }),
  );
  // Without a new database, in the stage of swapping, it has become the living one: the old one may be dropped already.
  const isSwapped = ({ there }: (typeof states)[number]) => stage === 'swapping' && !there.fresh;
  const outcome = states.some(isSwapped) ? 'restored' : 'undone';
  if (outcome === 'restored') {
    for (const { store, names } of states.filter((state) => !isSwapped(state)))
      await swapDatabases(store.adminUrl, names, lastCopyOf(store, names.fresh));
    for (const { store, names } of states) await dropOld(store.adminUrl, names);
  } else {
    await journal.setStage(id, 'loading'); // before the first new database is gone, which would look like a swap
    for (const { store, names } of states) await dropFresh(store.adminUrl, names);
  }
  await journal.setStage(id, outcome, now());
  return outcome;
}

export function lastCopyOf({ owner }: Store, fresh: string): (() => Promise<void>) | undefined {
  return owner.carryOver && (async () => owner.carryOver?.(fresh));
}

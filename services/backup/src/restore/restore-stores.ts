import type { Log } from '@taskmesh/service';
import { stat } from 'node:fs/promises';
import type { FoundDump } from '../archives/archive-dumps.ts';
import type { OnProgress } from '../backups/backup-progress.ts';
import { withClient } from '../databases/connect.ts';
import { swapBack, swapDatabases } from '../databases/swap.ts';
import type { SharedJudge } from '../loader/statement-judge.ts';
import type { Store, StoreName } from '../stores/store.ts';
import type { LoadLimits } from './load-limits.ts';
import { prepareStore } from './prepare-store.ts';
import type { Restore, RestoreStage } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { lastCopyOf, namesOf, settleRestore } from './settle-restore.ts';

export interface StoresRestore {
  id: string;
  file: string;
  /** Which stores, and where their dumps are. */
  dumps: FoundDump[];
  /** Whether what a store has no place for is left out of an archive, rather than a reason to refuse. */
  allowsLoss: boolean;
  limits: LoadLimits;
  judge: SharedJudge;
  /** False when somebody else may be restoring by now. */
  mayGoOn: () => Promise<boolean>;
  onProgress: OnProgress;
}

export interface RestoreStoresDeps {
  journal: RestoreRepository;
  stores: Record<StoreName, Store>;
  now: () => Date;
  log: Log;
  /** Told when something is left that could not be settled. */
  onUnsettled: () => void;
}

/**
 * Replaces stores by what dumps hold: all are prepared beside the living ones first, then each is swapped in one step.
 * Returns what was left out, as `store.table` or `store.table.column`.
 * @throws Error when the living stores are as they were
 */
export async function restoreStores(deps: RestoreStoresDeps, restore: StoresRestore): Promise<string[]> {
  const { journal, now, log } = deps;
  const { id, file, dumps } = restore;
  const storeNames = dumps.map(({ store }) => store.name);
  await journal.begin({ id, file, stage: 'loading', stores: storeNames, startedAt: now(), endedAt: null });
  const failure = await replaceStores(deps, restore);
  const outcome = await settle(deps, { id, stores: storeNames, stage: failure.stage }, failure.error);
  log.info({ restore: id, file, outcome }, 'restore ended');
  if (outcome === 'undone') throw failure.error ?? new Error('The restore was undone.');
  return failure.dropped;
}

/** Says how far it came, and why not farther. */
async function replaceStores(
  deps: RestoreStoresDeps,
  { id, dumps, allowsLoss, limits, judge, mayGoOn, onProgress }: StoresRestore,
) {
  const { journal, log } = deps;
  let stage: RestoreStage = 'loading';
  const dropped: string[] = [];
  try {
    for (const { store, path, archived } of dumps) {
      const totalBytes = (await stat(path)).size;
      const onLoaded = (doneBytes: number) => onProgress({ phase: 'load', store: store.name, doneBytes, totalBytes });
      const onCheck = () => onProgress({ phase: 'check', store: store.name });
      const adoption = await prepareStore({
        store,
        names: namesOf(store, id),
        path,
        archived,
        allowsLoss,
        limits,
        judge,
        log,
        onLoaded,
        onCheck,
      });
      dropped.push(...adoption.dropped.map((name) => `${store.name}.${name}`));
      log.info({ restore: id, store: store.name, rows: adoption.rows }, 'store prepared');
    }
    if (!(await mayGoOn())) throw new Error('The lock on restores was lost.');
    onProgress({ phase: 'swap' });
    await journal.setStage(id, 'swapping');
    stage = 'swapping';
    for (const { store } of dumps) await swapStore(store, id);
    return { stage, dropped };
  } catch (error) {
    return { stage, dropped, error };
  }
}

async function settle(
  deps: RestoreStoresDeps,
  restore: Pick<Restore, 'id' | 'stage' | 'stores'>,
  failure: unknown,
): Promise<'restored' | 'undone'> {
  try {
    return await settleRestore(restore, deps);
  } catch (error) {
    // The journal keeps it in mind: it is settled when the servers are back.
    deps.log.error({ err: error, restore: restore.id }, 'restore not settled yet');
    deps.onUnsettled();
    throw failure ?? error;
  }
}

/** The old database stays until the new one answers. */
async function swapStore(store: Store, id: string): Promise<void> {
  const names = namesOf(store, id);
  await swapDatabases(store.adminUrl, names, lastCopyOf(store, names.fresh));
  try {
    await withClient(store.adminUrl, (client) => client.query('select 1'));
  } catch (error) {
    await swapBack(store.adminUrl, names);
    throw error;
  }
}

import { stat } from 'node:fs/promises';
import type { OnProgress } from '../backups/backup-progress.ts';
import type { Skipped } from '../loader/dump-schema.ts';
import type { Store } from '../stores/store.ts';
import { exchangeStores, type Exchange, type ExchangeDeps } from './exchange-stores.ts';
import type { LoadLimits } from './load-limits.ts';
import { prepareStore } from './prepare-store.ts';
import type { Restore } from './restore.entity.ts';
import { namesOf } from './settle-restore.ts';

export interface StoresRestore extends Pick<Exchange, 'mayGoOn'> {
  id: string;
  file: string;
  /** Which stores, and where their dumps are. */
  dumps: { store: Store; path: string }[];
  limits: LoadLimits;
  onProgress: OnProgress;
}

/**
/**
 * Replaces stores by what dumps hold: all are prepared beside the living ones first, then they change places. Returns what of
 * the dumps was passed over, too.
 * @throws UnknownOutcomeError; any other error when the living stores are as they were
 */
export async function restoreStores(deps: ExchangeDeps, restore: StoresRestore) {
  const { id, file, dumps, mayGoOn, onProgress } = restore;
  const skipped: Skipped[] = [];
  const exchanged = await exchangeStores(deps, {
    restore: newRestore(deps, { id, file, stores: dumps.map(({ store }) => store.name) }),
    prepare: async () => void skipped.push(...(await prepareAll(deps, restore))),
    mayGoOn,
    onSwap: () => onProgress({ phase: 'swap' }),
  });
  return { ...exchanged, skipped };
}

/** The journal's line about what begins now. */
export function newRestore(
  { now }: Pick<ExchangeDeps, 'now'>,
  what: Pick<Restore, 'id' | 'file' | 'stores'> & Partial<Restore>,
): Restore {
  return { stage: 'loading', undoes: null, freshIds: {}, startedAt: now(), endedAt: null, leftUntil: null, ...what };
}

async function prepareAll({ log }: ExchangeDeps, { id, dumps, limits, onProgress }: StoresRestore): Promise<Skipped[]> {
  const skipped: Skipped[] = [];
  for (const { store, path } of dumps) {
    const totalBytes = (await stat(path)).size;
    const onLoaded = (doneBytes: number) => onProgress({ phase: 'load', store: store.name, doneBytes, totalBytes });
    const onCheck = () => onProgress({ phase: 'check', store: store.name });
    const prepared = await prepareStore({ store, names: namesOf(store, id), path, limits, log, onLoaded, onCheck });
    skipped.push(...prepared.skipped);
    log.info({ restore: id, store: store.name, rows: prepared.rows }, 'store prepared');
  }
  return skipped;
}

import type { OnProgress } from '../archives/progress.ts';
import { renewSettings } from '../databases/carry-over.ts';
import { maintenanceUrl, withAdmin } from '../databases/connect.ts';
import { allowConnections } from '../databases/swap.ts';
import { exchangeStores, type Exchange, type ExchangeDeps } from './exchange-stores.ts';
import type { Restore } from './restore.entity.ts';
import { newRestore } from './restore-stores.ts';
import { namesOf } from './settle-restore.ts';

export interface RestoreUndo extends Pick<Exchange, 'mayGoOn'> {
  id: string;
  /** The restore to undo; its old stores still exist. */
  kept: Restore;
  onProgress: OnProgress;
}

/**
 * Replaces the live stores by those from before a restore. The replaced ones are kept in turn.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
 */
export function undoRestore(deps: ExchangeDeps, { id, kept, mayGoOn, onProgress }: RestoreUndo) {
  const { file, stores: storeNames, id: undoes } = kept;
  return exchangeStores(deps, {
    restore: newRestore(deps, { id, file, stores: storeNames, undoes }),
    async prepare() {
      for (const name of storeNames) {
        const { adminUrl, owner } = deps.stores[name];
        const names = namesOf(deps.stores[name], id, undoes);
        onProgress({ phase: 'check', store: name });
        await withAdmin(maintenanceUrl(adminUrl), (admin) => admin.query(allowConnections(names.fresh, true)));
        await owner.resume(names.fresh);
        const refused = await renewSettings(adminUrl, names);
        if (refused.length > 0)
          deps.log.warn({ store: name, refused }, 'settings that the administrator may not carry over');
      }
    },
    mayGoOn,
    onSwap: () => onProgress({ phase: 'swap' }),
  });
}

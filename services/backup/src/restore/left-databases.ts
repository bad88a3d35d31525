import { maintenanceUrl, withAdmin } from '../databases/connect.ts';
import { DATABASE_TIMEOUTS, dropDatabase } from '../databases/drop-database.ts';
import { dropFresh } from '../databases/fresh-database.ts';
import { settleAll, type Log } from '@taskmesh/service';
import type { Store, StoreName } from '../databases/store.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { namesOf } from './settle-restore.ts';

export interface LeftDeps {
  stores: Record<StoreName, Store>;
  journal: RestoreRepository;
  log: Log;
}

/**
 * Drops what a finished restore left: the old databases, or the new ones that were not used. Databases in use cannot be
 * dropped; they do no harm, and stay in the journal for the next attempt.
 */
export async function dropLeft({ stores, journal, log }: LeftDeps, restore: Restore): Promise<boolean> {
  try {
    await settleAll(restore.stores.map((name) => dropOf(stores[name], restore)));
    await journal.leftNothing(restore.id);
    return true;
  } catch (error) {
    log.warn({ err: error, restore: restore.id }, 'databases of an ended restore not removed yet');
    return false;
  }
}

async function dropOf(store: Store, { id, undoes, stage }: Restore): Promise<void> {
  const names = namesOf(store, id, undoes);
  if (stage === 'undone') return dropFresh(store.adminUrl, names);
  await withAdmin(maintenanceUrl(store.adminUrl), (admin) => dropDatabase(admin, names.old), DATABASE_TIMEOUTS);
}

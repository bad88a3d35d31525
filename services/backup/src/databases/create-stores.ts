import type { BackupConfig } from '../config.ts';
import type { Store, StoreName, StoreOwner } from './store.ts';

const NO_OWNER = 'The service that owns the store is not connected.';
const noOwner: StoreOwner = {
  importDatabase: async () => ({ complete: false, reason: NO_OWNER }),
  compare: () => Promise.reject(new Error(NO_OWNER)),
  resume: () => Promise.reject(new Error(NO_OWNER)),
};

/** The stores, each with its administrator and the service that owns it. */
export function createStores(
  { secrets }: BackupConfig,
  owners: Partial<Record<StoreName, StoreOwner>>,
): Record<StoreName, Store> {
  const store = (name: StoreName): Store => ({
    name,
    adminUrl: secrets.adminUrls[name],
    owner: owners[name] ?? noOwner,
  });
  return { tasks: store('tasks'), auth: store('auth') };
}

import { inTransaction, createImporter, type ImporterOptions } from '@taskmesh/store';
import type { AuthRestore } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { copyTrail, endOfTrail, joinTrails, settledEnd } from './audit-trail.ts';
import { copySessions } from './carry-over-credentials.ts';
import { compareStores } from './compare-stores.ts';
import { removeDeletedAccounts } from './deleted-accounts.ts';
import { replaceUnusableHashes } from './password-hashes.ts';
import { accountRules } from './rules.ts';
import { removeUnlinkedIdentities } from './unlinked-identities.ts';

export interface AccountsImportDeps extends Pick<ImporterOptions, 'url' | 'databaseAt' | 'log'> {
  clock: Clock;
  /** In the live store. */
  newEpoch: AuthRestore['newEpoch'];
}

/** Makes the database of a restored backup into a store, and gives it what belongs to the present. */
export function createAccountsImport({ clock, newEpoch, ...deps }: AccountsImportDeps): AuthRestore {
  const now = () => new Date(clock.now());
  const { importDatabase, resume, withStores } = createImporter({
    ...deps,
    name: 'taskmesh-auth-import',
    rules: {
      ...accountRules,
      async complete(stores, of) {
        const replaced = await replaceUnusableHashes(stores.to);
        if (replaced > 0)
          deps.log.warn({ accounts: replaced }, 'restored accounts whose passwords must be set anew by mail');
        const end = await settledEnd(stores.from);
        await (of === 'archive' ? joinTrails(stores, { end, now: now() }) : copyTrail(stores, end));
        await removeDeletedAccounts(stores);
      },
    },
  });

  return {
    importDatabase,
    newEpoch,
    resume: (database) => resume(database),
    compare: (database) => withStores(database, (stores) => compareStores(stores, now())),
    carryOver: (database, stage = 'final') =>
      withStores(database, async (stores) => {
        // While writers are locked out, all entries are settled, and a lock would wait behind those writers.
        const end = await (stage === 'ahead' ? settledEnd : endOfTrail)(stores.from);
        await inTransaction(stores.to, async () => {
          await copyTrail(stores, end);
          await removeDeletedAccounts(stores);
          await removeUnlinkedIdentities(stores);
          await copySessions(stores, now());
        });
      }),
  };
}

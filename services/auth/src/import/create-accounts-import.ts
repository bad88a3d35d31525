import { compareRows, countRows } from '@taskmesh/pg-rows/mirror';
import {
  createImporter,
  inTransaction,
  retryWhileUnavailable,
  type ImporterOptions,
  type Stores,
} from '@taskmesh/store';
import type { AuthRestore, StoreComparison } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { copyTrail, endOfTrail, keepOlderTrail, settledEnd } from './audit-trail.ts';
import { carryOverCredentials, removeUnlinkedIdentities } from './carry-over-credentials.ts';
import { removeDeletedAccounts } from './deleted-accounts.ts';
import { accountRules, replaceUnusableHashes } from './rules.ts';

/** $1 ids, $2 now */
const COUNT_ACTIVE_SESSIONS = `select count(*)::text as count from public.sessions
    where account_id = any($1::uuid[]) and ended_at is null and expires_at > $2::timestamptz`;

/** Reports what would change if the imported database `to` replaced the live store `from`. Read-only. */
async function compareStores(stores: Stores, now: Date): Promise<StoreComparison> {
  const { from, to } = stores;
  let sessionsEnding = 0;
  const accounts = await compareRows(stores, { name: 'accounts' }, async (deleted) => {
    const [row] = await from.run<{ count: string }>(COUNT_ACTIVE_SESSIONS, [deleted, now]);
    sessionsEnding += Number(row?.count);
  });
  const auditLog = { name: 'audit_log' };
  const entries = await countRows(from, auditLog); // `carryOver` adds them
  const trail = { now: entries, after: entries + (await countRows(to, auditLog)) };
  return { tables: { accounts, audit_log: trail }, accounts: { ...accounts, sessionsEnding } };
}

export interface AccountsImportDeps extends Pick<ImporterOptions, 'url' | 'databaseAt' | 'log'> {
  clock: Clock;
  /** In the live store. */
  newEpoch: AuthRestore['newEpoch'];
}

/** How long writers may keep the trail from being settled. */
const SETTLE_DEADLINE_MS = 20_000;

/** Turns the database of a restored backup into a store, and copies the current sessions, tokens and deletions into it. */
export function createAccountsImport({ clock, newEpoch, ...deps }: AccountsImportDeps): AuthRestore {
  const now = () => new Date(clock.now());
  const { importDatabase, resume, withStores } = createImporter({
    ...deps,
    name: 'taskmesh-auth-import',
    rules: {
      ...accountRules,
      async complete(stores, source) {
        const replaced = await replaceUnusableHashes(stores.to, source);
        if (replaced > 0)
          deps.log.warn({ accounts: replaced }, 'restored accounts whose passwords must be set again by mail');
        if (source === 'archive') await keepOlderTrail(stores, now());
        await removeDeletedAccounts(stores);
      },
    },
  });

  const carryOver = (database: string, readEnd: (from: Stores['from']) => Promise<string>) =>
    withStores(database, async (stores) => {
      const end = await readEnd(stores.from);
      await inTransaction(stores.to, async () => {
        await copyTrail(stores, end);
        await removeDeletedAccounts(stores);
        await removeUnlinkedIdentities(stores);
        await carryOverCredentials(stores, now());
      });
    });

  return {
    importDatabase,
    newEpoch,
    resume: (database) => resume(database),
    compare: (database) => withStores(database, (stores) => compareStores(stores, now())),
    // Retried while writers are busy: otherwise all of this work would be done while they are locked out.
    carryOverAhead: (database) =>
      retryWhileUnavailable({ kind: 'read', deadlineMs: SETTLE_DEADLINE_MS }, () => carryOver(database, settledEnd)),
    // Writers are locked out by now: all entries are settled, and another lock would wait for those writers.
    carryOver: (database) => carryOver(database, endOfTrail),
  };
}

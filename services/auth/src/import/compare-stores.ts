import { type Statement, compareRows, countRows, type Stores } from '@taskmesh/store';
import type { StoreComparison } from '@taskmesh/internal-api';

/** $1 ids, $2 now */
const SESSIONS: Statement = {
  name: 'compare-sessions',
  text: `select count(*)::text as count from public.sessions
    where account_id = any($1::uuid[]) and ended_at is null and expires_at > $2::timestamptz`,
};

/** What would change if the imported database `to` replaced the living store `from`. Read-only. */
export async function compareStores(stores: Stores, now: Date): Promise<StoreComparison> {
  const { from, to } = stores;
  let sessionsEnding = 0;
  const accounts = await compareRows(stores, 'accounts', async (gone) => {
    const [row] = await from.run<{ count: string }>(SESSIONS, [gone, now]);
    sessionsEnding += Number(row?.count);
  });
  const trail = { now: await countRows(from, 'audit_log'), after: await countRows(to, 'audit_log') };
  return { tables: { accounts, audit_log: trail }, accounts: { ...accounts, sessionsEnding } };
}

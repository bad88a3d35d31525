import type { Session, Statement } from '@taskmesh/database';
import type { CountChange, StoreComparison } from '@taskmesh/internal-api';

const BATCH = 5_000;
const START = '00000000-0000-0000-0000-000000000000';

const count = (table: string): Statement => ({
  name: `compare-count-${table}`,
  text: `select count(*)::text as count from public.${table}`,
});

/** $1 behind which id */
const IDS: Statement = {
  name: 'compare-ids',
  text: `select id::text from public.accounts where id > $1::uuid order by id limit ${BATCH}`,
};

/** $1 ids. Those that are no accounts here. */
const UNKNOWN: Statement = {
  name: 'compare-unknown',
  text: `select id::text from unnest($1::uuid[]) id where not exists (select 1 from public.accounts a where a.id = id.id)`,
};

/** $1 ids, $2 now */
const SESSIONS: Statement = {
  name: 'compare-sessions',
  text: `select count(*)::text as count from public.sessions
    where account_id = any($1::uuid[]) and ended_at is null and expires_at > $2::timestamptz`,
};

/** What would change if `to`, an adopted database, took the place of the living store `from`. Only reads, in batches. */
export async function compareStores({ from, to }: { from: Session; to: Session }, now: Date): Promise<StoreComparison> {
  let [gone, common, sessionsEnding] = [0, 0, 0];
  for (let last = START; ;) {
    const ids = (await from.run<{ id: string }>(IDS, [last])).map(({ id }) => id);
    if (ids.length === 0) break;
    last = ids.at(-1) ?? last;
    const unknown = (await to.run<{ id: string }>(UNKNOWN, [ids])).map(({ id }) => id);
    gone += unknown.length;
    common += ids.length - unknown.length;
    if (unknown.length > 0) sessionsEnding += await numberOf(from, SESSIONS, [unknown, now]);
  }
  const accounts: CountChange = { now: gone + common, after: await numberOf(to, count('accounts')) };
  const trail = { now: await numberOf(from, count('audit_log')), after: await numberOf(to, count('audit_log')) };
  return {
    tables: { accounts, audit_log: trail },
    accounts: { ...accounts, gone, back: accounts.after - common, sessionsEnding },
  };
}

async function numberOf(session: Session, statement: Statement, values: unknown[] = []): Promise<number> {
  const [row] = await session.run<{ count: string }>(statement, values);
  return Number(row?.count);
}

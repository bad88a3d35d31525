import { Client } from 'pg';
import { openStore } from './store.ts';

export const LARGE_OWNER = '01890000-0000-7000-8000-0000000000aa';
export const SMALL_OWNER = '01890000-0000-7000-8000-0000000000bb';

/** One of others', of which nearly all look the same: statistics that mislead a planner. */
const OTHERS = 5_000;

export type LargeStore = Awaited<ReturnType<typeof openLargeStore>>;

/**
 * A store of many small owners, and one with `owned` tasks. What filters look for is rare among those, and lies at the
 * end in every order: a scan that does not know where has to read all of them.
 */
export async function openLargeStore(owned: number) {
  const { store, database, close } = await openStore('large_store', { poolSize: 1 });
  const client = new Client({ connectionString: store.url });
  await client.connect();
  const insert = (of: string, count: number) =>
    client.query(
      `insert into tasks (id, user_id, title, completed, priority, category, due_date, created_at, updated_at)
       select gen_random_uuid(), ${of}, 'task ' || n, n % 1000 = 1, (array['low', 'medium', 'high'])[case n % 1000 when 2 then 1 when 3 then 3 else 2 end],
         case when n % 1000 = 4 then 'rare' when n % 1000 <> 5 then 'inbox' end,
         case when n % 1000 between 6 and 12 then timestamptz '2026-01-01T00:00Z' + n * interval '1 second' end,
         timestamptz '2026-01-01T00:00Z' + (n % 1000) * interval '1 hour' + n * interval '1 ms',
         timestamptz '2026-02-01T00:00Z' + (n * 7919 % 100000) * interval '1 minute'
       from generate_series(1, $1::int) n`,
      [count],
    );
  await insert('gen_random_uuid()', OTHERS);
  await insert(`'${SMALL_OWNER}'`, 50);
  await insert(`'${LARGE_OWNER}'`, owned);
  await client.query('vacuum analyze tasks');
  return {
    client,
    /** Of the service's own connections. */
    setting: async (name: string) => (await database.pool.query(`show ${name}`)).rows[0]?.[name] as unknown,
    async close() {
      await client.end();
      await close();
    },
  };
}

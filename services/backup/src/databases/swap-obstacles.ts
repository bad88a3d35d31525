import { databaseOf } from '@taskmesh/store';
import { maintenanceUrl, withAdmin } from './connect.ts';
import { storeTables, tablesOf, type Replaced } from './lock-writers.ts';

interface Obstacle {
  /** $1: the live database. */
  count: string;
  sentence(found: number): string;
}

const OBSTACLES: Obstacle[] = [
  {
    count: `select count(*)::int as found from pg_database where datname = $1 and not pg_has_role(datdba, 'usage')`,
    sentence: () => 'the administrator is not a member of the role that owns the database',
  },
  {
    count: 'select count(*)::int as found from pg_prepared_xacts where database = $1',
    sentence: (found) => `prepared transactions are neither committed nor rolled back (${found})`,
  },
  {
    count: `select count(*)::int as found from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
      join pg_roles administrator on administrator.rolname = current_user
      where a.datname = $1 and not administrator.rolsuper
        and (r.rolsuper or not (pg_has_role(r.oid, 'usage') or pg_has_role('pg_signal_backend', 'usage')))`,
    sentence: (found) => `sessions are in it that the administrator may not end (${found})`,
  },
  {
    // Every new session briefly holds the weakest of these locks.
    count: `select count(distinct l.pid)::int as found from pg_locks l join pg_database d on d.oid = l.objid
      where d.datname = $1 and l.locktype = 'object' and l.classid = 'pg_database'::regclass and l.granted
        and l.mode <> 'RowExclusiveLock'`,
    sentence: (found) => `another session is copying or changing the database (${found})`,
  },
];

/** $1: the store's tables, $2: how long a restore waits for their locks, in ms. */
const WRITERS = `select count(distinct a.pid)::int as found from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.database = (select oid from pg_database where datname = current_database())
    and l.locktype = 'relation' and l.granted and l.relation = any($1::text[]::regclass[])
    and (l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      or l.mode = 'ShareUpdateExclusiveLock' and a.backend_type <> 'autovacuum worker') -- that one gives way
    and a.xact_start < now() - $2::float8 * interval '1 millisecond'`;

export interface Exchangeable extends Pick<Replaced, 'fresh'> {
  adminUrl: string;
  /** Whether the restore locks out writers while it carries data over. */
  waitsForWriters: boolean;
  /** How long a restore waits for their locks. */
  writersMs: number;
}

/** Describes what would make a swap of the live database fail now, as far as can be seen without trying. */
export async function findObstacles(exchange: Exchangeable): Promise<string[]> {
  const { adminUrl, waitsForWriters } = exchange;
  const obstacles = await withAdmin(maintenanceUrl(adminUrl), async (admin) => {
    const found: string[] = [];
    for (const { count, sentence } of OBSTACLES) {
      const { rows } = await admin.query<{ found: number }>(count, [databaseOf(adminUrl)]);
      if (rows[0] && rows[0].found > 0) found.push(sentence(rows[0].found));
    }
    return found;
  });
  const writers = waitsForWriters ? await countWriters(exchange) : 0;
  if (writers > 0)
    obstacles.push(
      `transactions have been writing, or at work on tables, for longer than a restore waits (${writers})`,
    );
  return obstacles;
}

/** Counts only writers to the store's tables, because a restore locks only those. */
async function countWriters({ adminUrl, fresh, writersMs }: Exchangeable): Promise<number> {
  const tables = await withAdmin(fresh, tablesOf);
  return withAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ found: number }>(WRITERS, [await storeTables(admin, tables), writersMs]);
    return rows[0]?.found ?? 0;
  });
}

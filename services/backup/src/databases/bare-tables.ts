import type { Client } from 'pg';
import { withClient } from './connect.ts';

/** The schema that holds a dump's tables when nothing but rows is left of it. */
export const RESTORED_SCHEMA = 'restored';

const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
const FIRST_USER_OID = 16_384;
const IS_BUILT_IN = (oid: string) => `${oid} < ${FIRST_USER_OID}`;

/**
 * Each query tells the statements of one step. Their order matters: what a column's type change or a move would run or
 * trip over goes first. Columns whose type is not one of PostgreSQL's own become text, domains what they are based on.
 */
const STEPS = [
  `select format('drop %s if exists %I.%I cascade', case relkind when 'v' then 'view' else 'materialized view' end, nspname, relname)
   from pg_class c join pg_namespace n on n.oid = relnamespace where relkind in ('v', 'm') and ${OURS}`,
  `select format('drop policy if exists %I on %s', polname, polrelid::regclass) from pg_policy`,
  `select format('alter table %s disable row level security, no force row level security', c.oid::regclass)
   from pg_class c where relrowsecurity or relforcerowsecurity`,
  `select format('drop trigger if exists %I on %s cascade', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal and tgparentid = 0`,
  `select format('drop rule if exists %I on %s cascade', rulename, ev_class::regclass)
   from pg_rewrite r join pg_class c on c.oid = ev_class join pg_namespace n on n.oid = relnamespace where rulename <> '_RETURN' and ${OURS}`,
  `select format('alter table %s drop constraint if exists %I cascade', conrelid::regclass, conname)
   from pg_constraint co join pg_namespace n on n.oid = connamespace
   where conrelid <> 0 and contype <> 'n' and coninhcount = 0 and conparentid = 0 and ${OURS}`,
  `select format('drop index if exists %s cascade', c.oid::regclass)
   from pg_class c join pg_namespace n on n.oid = relnamespace where relkind in ('i', 'I') and not relispartition and ${OURS}`,
  `select format('drop statistics if exists %I.%I', nspname, stxname) from pg_statistic_ext join pg_namespace n on n.oid = stxnamespace`,
  `select format('alter table %s alter column %I drop identity if exists', attrelid::regclass, attname)
   from pg_attribute where attidentity <> '' and attinhcount = 0 and not attisdropped`,
  `select format(case attgenerated when 's' then 'alter table %s alter column %I drop expression'
       when '' then 'alter table %s alter column %I drop default' else 'alter table %s drop column %I cascade' end, attrelid::regclass, attname)
   from pg_attrdef d join pg_attribute a on attrelid = adrelid and attnum = adnum where attinhcount = 0`,
  `select format('alter table %s alter column %I type %s using %I::%3$s', attrelid::regclass, attname,
       case when typtype = 'd' and ${IS_BUILT_IN('typbasetype')} then format_type(typbasetype, typtypmod)
            when ${IS_BUILT_IN('t.oid')} then format_type(atttypid, atttypmod) || ' collate pg_catalog."default"'
            when typcategory = 'A' then 'text[]' else 'text' end, attname)
   from pg_attribute a join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace join pg_type t on t.oid = atttypid
   where nspname = 'public' and relkind in ('r', 'p') and attnum > 0 and not attisdropped and attinhcount = 0
     and not (${IS_BUILT_IN('t.oid')} and ${IS_BUILT_IN('attcollation')})`,
  // A sequence would move along with the table that owns it.
  `select format('drop sequence if exists %s cascade', c.oid::regclass)
   from pg_class c join pg_namespace n on n.oid = relnamespace where relkind = 'S' and ${OURS}`,
  `select format('drop extension if exists %I cascade', extname) from pg_extension where extname <> 'plpgsql'`,
  `select format('drop publication if exists %I', pubname) from pg_publication`,
  `select format('drop schema if exists %I cascade', nspname) from pg_namespace n where nspname <> 'public' and ${OURS}`,
  `select 'create schema ${RESTORED_SCHEMA}'`,
  `select format('alter table %s set schema ${RESTORED_SCHEMA}', c.oid::regclass)
   from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'public' and relkind in ('r', 'p')`,
  `select 'drop schema if exists public cascade'`,
  `select 'create schema public'`,
  `select format('select lo_unlink(%s)', oid) from pg_largeobject_metadata`,
];

/**
 * Takes away everything that could ever run (functions, triggers, rules, defaults, checks, views, types, extensions …) and
 * all indexes and constraints: the tables of the schema `public` and their rows are left, in the schema `restored`.
 * To be called as the role that loaded them.
 */
export async function keepBareTables(loaderUrl: string): Promise<void> {
  await withClient(loaderUrl, async (client) => {
    await client.query('begin');
    await client.query('set local search_path = pg_catalog');
    for (const step of STEPS) await runStep(client, step);
    await client.query('commit');
  });
}

async function runStep(client: Client, step: string): Promise<void> {
  const { rows } = await client.query<[string]>({ text: step, rowMode: 'array' });
  for (const [statement] of rows) await client.query(statement);
}

/** Counts, by catalogue, what is there besides tables with columns of built-in types. */
const LEFTOVERS = `
  select kind, count(*)::int as count from (
    select 'function' as kind from pg_proc where oid >= ${FIRST_USER_OID}
    union all select 'trigger' from pg_trigger
    union all select 'rule' from pg_rewrite where oid >= ${FIRST_USER_OID}
    union all select 'policy' from pg_policy
    union all select 'constraint' from pg_constraint where oid >= ${FIRST_USER_OID} and contype <> 'n'
    union all select 'default' from pg_attrdef
    union all select 'operator' from pg_operator where oid >= ${FIRST_USER_OID}
    union all select 'operator class' from pg_opclass where oid >= ${FIRST_USER_OID}
    union all select 'cast' from pg_cast where oid >= ${FIRST_USER_OID}
    union all select 'conversion' from pg_conversion where oid >= ${FIRST_USER_OID}
    union all select 'collation' from pg_collation where oid >= ${FIRST_USER_OID}
    union all select 'text search' from pg_ts_config where oid >= ${FIRST_USER_OID}
    union all select 'text search' from pg_ts_dict where oid >= ${FIRST_USER_OID}
    union all select 'extension' from pg_extension where oid >= ${FIRST_USER_OID}
    union all select 'language' from pg_language where oid >= ${FIRST_USER_OID}
    union all select 'event trigger' from pg_event_trigger
    union all select 'publication' from pg_publication
    union all select 'statistics' from pg_statistic_ext
    union all select 'large object' from pg_largeobject_metadata
    union all select 'relation' from pg_class c join pg_namespace n on n.oid = relnamespace
      where c.oid >= ${FIRST_USER_OID} and nspname <> 'pg_toast' and not (nspname = '${RESTORED_SCHEMA}' and relkind in ('r', 'p'))
    union all select 'type' from pg_attribute a join pg_class c on c.oid = attrelid
      where c.oid >= ${FIRST_USER_OID} and not attisdropped and atttypid >= ${FIRST_USER_OID}
  ) leftover group by kind`;

/** @throws Error when anything but bare tables is there. To be called as the administrator: it runs nothing of the dump. */
export async function checkBareTables(adminUrlOfFresh: string): Promise<void> {
  await withClient(adminUrlOfFresh, async (client) => {
    await client.query('set search_path = pg_catalog');
    const { rows } = await client.query<{ kind: string; count: number }>(LEFTOVERS);
    if (rows.length === 0) return;
    throw new Error(
      `The dump left more than tables: ${rows.map(({ kind, count }) => `${count} × ${kind}`).join(', ')}.`,
    );
  });
}

import { escapeLiteral, type Client } from 'pg';
import { OMITTED_CATALOGUES, FIRST_USER_OID } from '../dump/dumpable.ts';

const OMITTED_ROWS = Object.entries(OMITTED_CATALOGUES)
  .map(([kind, catalogue]) => `union all select '${kind}' from pg_catalog.${catalogue} where oid >= ${FIRST_USER_OID}`)
  .join('\n');

/** Counts, by kind, all objects other than tables with columns of built-in types. */
const otherObjects = (schema: string) => `
  select kind, count(*)::int as count from (
    select 'function' as kind from pg_catalog.pg_proc where oid >= ${FIRST_USER_OID}
    union all select 'trigger' from pg_catalog.pg_trigger
    union all select 'rule' from pg_catalog.pg_rewrite where oid >= ${FIRST_USER_OID}
    union all select 'constraint' from pg_catalog.pg_constraint where oid >= ${FIRST_USER_OID} and contype <> 'n'
    union all select 'default' from pg_catalog.pg_attrdef d where not exists (
      select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid = d.adrelid and nspname = ${schema})
    ${OMITTED_ROWS}
    union all select 'schema' from pg_catalog.pg_namespace
      where oid >= ${FIRST_USER_OID} and nspname <> ${schema} and nspname !~ '^pg_(toast_)?temp_'
    union all select 'setting' from pg_catalog.pg_db_role_setting s
      join pg_catalog.pg_database d on d.oid = s.setdatabase where datname = pg_catalog.current_database()
    union all select 'large object' from pg_catalog.pg_largeobject_metadata
    union all select 'relation' from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
      where c.oid >= ${FIRST_USER_OID} and nspname <> 'pg_toast' and not (nspname = ${schema} and relkind in ('r', 'p'))
    union all select 'type' from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = attrelid
      where c.oid >= ${FIRST_USER_OID} and not attisdropped and atttypid >= ${FIRST_USER_OID}
  ) leftover group by kind`;

/**
 * Checks in the catalogue that a load into an empty database has created nothing but tables in `schema`.
 * @throws Error that lists other objects
 */
export async function checkOnlyTables(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ kind: string; count: number }>(otherObjects(escapeLiteral(schema)));
  if (rows.length === 0) return;
  const others = rows.map(({ kind, count }) => `${count} × ${kind}`);
  throw new Error(`The dump left more than tables: ${others.join(', ')}.`);
}

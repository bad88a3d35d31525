import { escapeLiteral, type Client } from 'pg';
import { FIRST_USER_OID } from '../dump/dumpable.ts';

/** Counts, by kind, all objects other than tables with columns of built-in types. */
const otherObjects = (schema: string) => `
  select kind, count(*)::int as count from (
    select 'function' as kind from pg_catalog.pg_proc where oid >= ${FIRST_USER_OID}
    union all select 'trigger' from pg_catalog.pg_trigger
    union all select 'rule' from pg_catalog.pg_rewrite where oid >= ${FIRST_USER_OID}
    union all select 'policy' from pg_catalog.pg_policy
    union all select 'constraint' from pg_catalog.pg_constraint where oid >= ${FIRST_USER_OID} and contype <> 'n'
    union all select 'default' from pg_catalog.pg_attrdef d where not exists (
      select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid = d.adrelid and nspname = ${schema})
    union all select 'operator' from pg_catalog.pg_operator where oid >= ${FIRST_USER_OID}
    union all select 'operator class' from pg_catalog.pg_opclass where oid >= ${FIRST_USER_OID}
    union all select 'cast' from pg_catalog.pg_cast where oid >= ${FIRST_USER_OID}
    union all select 'conversion' from pg_catalog.pg_conversion where oid >= ${FIRST_USER_OID}
    union all select 'collation' from pg_catalog.pg_collation where oid >= ${FIRST_USER_OID}
    union all select 'text search' from pg_catalog.pg_ts_config where oid >= ${FIRST_USER_OID}
    union all select 'text search' from pg_catalog.pg_ts_dict where oid >= ${FIRST_USER_OID}
    union all select 'extension' from pg_catalog.pg_extension where oid >= ${FIRST_USER_OID}
    union all select 'language' from pg_catalog.pg_language where oid >= ${FIRST_USER_OID}
    union all select 'event trigger' from pg_catalog.pg_event_trigger
    union all select 'publication' from pg_catalog.pg_publication
    union all select 'statistics' from pg_catalog.pg_statistic_ext
    union all select 'schema' from pg_catalog.pg_namespace
      where oid >= ${FIRST_USER_OID} and nspname <> ${schema} and nspname !~ '^pg_(toast_)?temp_'
    union all select 'foreign server' from pg_catalog.pg_foreign_server
    union all select 'setting' from pg_catalog.pg_db_role_setting s
      join pg_catalog.pg_database d on d.oid = s.setdatabase where datname = pg_catalog.current_database()
    union all select 'large object' from pg_catalog.pg_largeobject_metadata
    union all select 'relation' from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
      where c.oid >= ${FIRST_USER_OID} and nspname <> 'pg_toast' and not (nspname = ${schema} and relkind in ('r', 'p'))
    union all select 'type' from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = attrelid
      where c.oid >= ${FIRST_USER_OID} and not attisdropped and atttypid >= ${FIRST_USER_OID}
  ) leftover group by kind`;

/**
 * Reads the catalogue whether a load into an empty database has created anything but tables in `schema`, as it
 * promises.
 * @throws Error that names what there is besides
 */
export async function checkOnlyTables(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ kind: string; count: number }>(otherObjects(escapeLiteral(schema)));
  if (rows.length === 0) return;
  const others = rows.map(({ kind, count }) => `${count} × ${kind}`);
  throw new Error(`The dump left more than tables: ${others.join(', ')}.`);
}

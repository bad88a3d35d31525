import type { Client } from 'pg';
import { DumpError } from './dump-error.ts';

const FIRST_USER_OID = 16_384;
const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
const RELATIONS = `pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS}`;
const COLUMNS = `pg_attribute a join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
  join pg_type t on t.oid = atttypid where ${OURS} and relkind = 'r' and attnum > 0 and not attisdropped`;
const COLUMN_NAME = `relname || '.' || attname`;

/** Catalogues of which nothing at all is written into a dump. */
const FOREIGN_CATALOGUES = {
  operator: ['pg_operator', 'oprname'],
  'operator class': ['pg_opclass', 'opcname'],
  'operator family': ['pg_opfamily', 'opfname'],
  cast: ['pg_cast', 'castsource::regtype'],
  conversion: ['pg_conversion', 'conname'],
  collation: ['pg_collation', 'collname'],
  'text search configuration': ['pg_ts_config', 'cfgname'],
  'text search dictionary': ['pg_ts_dict', 'dictname'],
  'text search parser': ['pg_ts_parser', 'prsname'],
  'text search template': ['pg_ts_template', 'tmplname'],
  extension: ['pg_extension', 'extname'],
  language: ['pg_language', 'lanname'],
  'access method': ['pg_am', 'amname'],
  transform: ['pg_transform', 'trftype::regtype'],
  'foreign data wrapper': ['pg_foreign_data_wrapper', 'fdwname'],
  'foreign server': ['pg_foreign_server', 'srvname'],
  'event trigger': ['pg_event_trigger', 'evtname'],
  publication: ['pg_publication', 'pubname'],
  'statistics object': ['pg_statistic_ext', 'stxname'],
  policy: ['pg_policy', 'polname'],
} as const;

const UNKNOWN = [
  ...Object.entries(FOREIGN_CATALOGUES).map(
    ([kind, [catalogue, name]]) => `select '${kind}', ${name}::text from ${catalogue} where oid >= ${FIRST_USER_OID}`,
  ),
  `select 'schema', nspname::text from pg_namespace n where ${OURS} and nspname <> 'public'`,
  `select case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'p' then 'partitioned table'
     when 'f' then 'foreign table' when 'c' then 'composite type' else 'relation' end, relname::text
   from ${RELATIONS} and relkind not in ('r', 'S', 'i')`,
  `select 'table of a special kind', relname::text from ${RELATIONS} and relkind in ('r', 'S', 'i')
   and (relpersistence <> 'p' or relispartition or relrowsecurity or relforcerowsecurity or reltablespace <> 0 or reloftype <> 0)`,
  `select 'table of a special kind', relname::text from ${RELATIONS} and relkind = 'r' and (relreplident <> 'd'
     or relam <> (select oid from pg_am where amname = 'heap')
     or exists (select from pg_inherits where c.oid in (inhrelid, inhparent))
     or exists (select from pg_class toast where toast.oid = c.reltoastrelid and toast.reloptions is not null)
     or not exists (select from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped))`,
  `select 'clustered index', relname::text from pg_index i join ${RELATIONS.replace('where', 'on i.indexrelid = c.oid where')}
     and (indisclustered or indisreplident)`,
  `select 'rule', rulename::text from pg_rewrite where oid >= ${FIRST_USER_OID} and rulename <> '_RETURN'`,
  `select 'column with a type of its own', ${COLUMN_NAME} from ${COLUMNS} and t.oid >= ${FIRST_USER_OID}`,
  `select 'generated column', ${COLUMN_NAME} from ${COLUMNS} and attgenerated <> ''`,
  `select 'column of a special kind', ${COLUMN_NAME} from ${COLUMNS} and (attcollation <> typcollation or attstorage <> typstorage
     or attcompression <> '' or attoptions is not null or coalesce(attstattarget, -1) <> -1)`,
  `select 'type', typname::text from pg_type t where oid >= ${FIRST_USER_OID} and typrelid = 0 and typcategory <> 'A'`,
  `select 'function of a special kind', proname::text from pg_proc p join pg_language l on l.oid = prolang
   where p.oid >= ${FIRST_USER_OID} and (prokind <> 'f' or lanname not in ('sql', 'plpgsql') or prosqlbody is not null
     or prorettype >= ${FIRST_USER_OID}
     or exists (select from unnest(coalesce(proallargtypes, proargtypes::oid[])) as arg where arg >= ${FIRST_USER_OID}))`,
  `select 'constraint of a special kind', conname::text from pg_constraint
   where oid >= ${FIRST_USER_OID} and (contype not in ('c', 'p', 'u', 'f', 'n') or contype = 'n' and not convalidated)`,
  `select 'trigger of a special kind', tgname::text from pg_trigger where not tgisinternal and (tgenabled <> 'O' or tgconstraint <> 0)`,
  `select 'large object', oid::text from pg_largeobject_metadata`, // whose numbers anybody may choose
  `select 'security label', label from pg_seclabel`,
  `select 'comment on a ' || type, identity from pg_description, pg_identify_object(classoid, objoid, objsubid)
   where objoid >= ${FIRST_USER_OID} and type not in ('table', 'table column', 'index', 'sequence', 'function')`,
].join('\nunion all ');

/**
 * A dump that leaves something out without a word is worse than none.
 * @throws DumpError for everything in the database that the dump's text would not bring back
 */
export async function refuseUnknownObjects(client: Client): Promise<void> {
  const { rows } = await client.query<[kind: string, name: string]>({ text: UNKNOWN, rowMode: 'array' });
  if (rows.length === 0) return;
  const named = rows.slice(0, 5).map(([kind, name]) => `${kind} ${JSON.stringify(name)}`);
  throw new DumpError(`the database holds what a dump cannot hold: ${named.join(', ')}`);
}

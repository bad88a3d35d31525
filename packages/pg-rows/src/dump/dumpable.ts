import type { Client } from 'pg';

/** The database cannot be dumped completely. The message is part of a sentence for the operator. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Objects with lower ids belong to PostgreSQL itself. */
export const FIRST_USER_OID = 16_384;

/** Catalogues whose objects are neither dumped nor loaded, keyed by the name for operators. */
export const OMITTED_CATALOGUES = {
  operator: 'pg_operator',
  'operator class': 'pg_opclass',
  cast: 'pg_cast',
  conversion: 'pg_conversion',
  collation: 'pg_collation',
  'text search configuration': 'pg_ts_config',
  'text search dictionary': 'pg_ts_dict',
  extension: 'pg_extension',
  language: 'pg_language',
  'foreign server': 'pg_foreign_server',
  'event trigger': 'pg_event_trigger',
  publication: 'pg_publication',
  'statistics object': 'pg_statistic_ext',
  policy: 'pg_policy',
} as const;

const extensionMemberSql = (catalogue: string, oid: string): string =>
  `exists (select from pg_depend m where m.classid = '${catalogue}'::regclass and m.objid = ${oid} and m.deptype = 'e')`;

const userObjectSql = (oid: string) => `${oid} >= ${FIRST_USER_OID}`;

/** A user-defined function that depends only on objects that every database has. */
export const plainFunctionSql = (p: string): string => `(${p}.prokind = 'f' and ${p}.prosqlbody is null
  and ${p}.prolang in (select oid from pg_language where lanname in ('sql', 'plpgsql'))
  and not ${userObjectSql(`${p}.prorettype`)} and not ${extensionMemberSql('pg_proc', `${p}.oid`)}
  and not exists (select from unnest(coalesce(${p}.proallargtypes, ${p}.proargtypes::oid[])) as arg where ${userObjectSql('arg')}))`;

/** A table or sequence in the schema `public` that belongs to no extension; `c` is its row in pg_class. */
export const ownRelationSql = (c: string): string =>
  `(${c}.relnamespace = 'public'::regnamespace and ${c}.relkind in ('r', 'S') and not ${extensionMemberSql('pg_class', `${c}.oid`)})`;

const OMITTED_CLASSES =
  ['pg_type', 'pg_opclass', 'pg_opfamily', 'pg_operator', 'pg_collation', 'pg_ts_config', 'pg_ts_dict', 'pg_am'] // prettier-ignore
    .map((catalogue) => `'${catalogue}'::regclass`)
    .join(', ');

/** Whether the object depends on nothing that the dump omits; otherwise its statement would fail. */
export const standaloneSql = (catalogue: string, oid: string): string =>
  `not exists (select from pg_depend d left join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
     where d.classid = '${catalogue}'::regclass and d.objid = ${oid} and ${userObjectSql('d.refobjid')}
       and (d.refclassid in (${OMITTED_CLASSES}) or p.oid is not null and not ${plainFunctionSql('p')}))`;

const IN_USER_SCHEMA = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
const RELATIONS = `pg_class c join pg_namespace n on n.oid = c.relnamespace where ${IN_USER_SCHEMA} and not ${extensionMemberSql('pg_class', 'c.oid')}`;
const COLUMNS = `pg_attribute a join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
  join pg_type t on t.oid = atttypid where ${IN_USER_SCHEMA} and relkind = 'r' and attnum > 0 and not attisdropped
  and not ${extensionMemberSql('pg_class', 'c.oid')}`;
const COLUMN_NAME = `relname || '.' || attname`;

/** Objects with rows, or that determine the format of rows, which a restore would not recover unchanged. */
const UNDUMPABLE = [
  `select 'table of another schema', nspname || '.' || relname from ${RELATIONS} and nspname <> 'public' and relkind in ('r', 'p')`,
  `select 'partitioned table', relname::text from ${RELATIONS} and nspname = 'public' and relkind = 'p'`,
  `select 'table of a special kind', relname::text from ${RELATIONS} and nspname = 'public' and relkind = 'r' and (relispartition
     or exists (select from pg_inherits where c.oid in (inhrelid, inhparent))
     or not exists (select from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped))`,
  `select 'column with a type of its own', ${COLUMN_NAME} from ${COLUMNS} and t.oid >= ${FIRST_USER_OID}`,
  `select 'generated column', ${COLUMN_NAME} from ${COLUMNS} and attgenerated <> ''`,
  `select 'large object', oid::text from pg_largeobject_metadata`, // at any id, because users may choose the ids
].join('\nunion all ');

/** Objects without rows. A restore creates the schema with migrations, so it does not need them. */
const OMITTED_COUNTS = [
  ...Object.entries(OMITTED_CATALOGUES).map(
    ([kind, catalogue]) =>
      `select '${kind}', count(*) from ${catalogue} o where oid >= ${FIRST_USER_OID} and not ${extensionMemberSql(catalogue, 'o.oid')}`,
  ),
  `select 'view', count(*) from ${RELATIONS} and relkind in ('v', 'm')`,
  `select 'foreign table', count(*) from ${RELATIONS} and relkind = 'f'`,
  `select 'type', count(*) from pg_type t where oid >= ${FIRST_USER_OID} and typcategory <> 'A'
     and not exists (select from pg_class c where c.oid = typrelid and relkind <> 'c') and not ${extensionMemberSql('pg_type', 't.oid')}`,
  `select 'function', count(*) from pg_proc p where oid >= ${FIRST_USER_OID} and not ${plainFunctionSql('p')} and not ${extensionMemberSql('pg_proc', 'p.oid')}`,
].join('\nunion all ');

/**
 * Refuses to dump, because a dump that silently omits rows is worse than none.
 * @throws DumpError if the database has objects whose rows a restore would not recover
 */
export async function refuseUndumpableObjects(client: Client): Promise<void> {
  const { rows } = await client.query<[kind: string, name: string]>({ text: UNDUMPABLE, rowMode: 'array' });
  if (rows.length === 0) return;
  const examples = rows.slice(0, 5).map(([kind, name]) => `${kind} ${JSON.stringify(name)}`);
  throw new DumpError(`the database contains objects that a dump cannot contain: ${examples.join(', ')}`);
}

/** Counts, by kind, the objects without rows that a dump omits. */
export async function countOmitted(client: Client): Promise<Record<string, number>> {
  const { rows } = await client.query<[kind: string, count: string]>({ text: OMITTED_COUNTS, rowMode: 'array' });
  return Object.fromEntries(rows.map(([kind, count]) => [kind, Number(count)]).filter(([, count]) => count !== 0));
}

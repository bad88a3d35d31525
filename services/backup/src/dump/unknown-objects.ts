import type { Client } from 'pg';
import { COLLECTED, FIRST_USER_OID, isMember, isPlainFunction } from './dumpable.ts';
import { DumpError } from './dump-error.ts';

const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;
const RELATIONS = `pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and not ${isMember('pg_class', 'c.oid')}`;
const COLUMNS = `pg_attribute a join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
  join pg_type t on t.oid = atttypid where ${OURS} and relkind = 'r' and attnum > 0 and not attisdropped
  and not ${isMember('pg_class', 'c.oid')}`;
const COLUMN_NAME = `relname || '.' || attname`;

/** Objects with rows, or that determine their form, which a restore would not bring back unchanged. */
const UNKNOWN = [
  `select 'table of another schema', nspname || '.' || relname from ${RELATIONS} and nspname <> 'public' and relkind in ('r', 'p')`,
  `select 'partitioned table', relname::text from ${RELATIONS} and nspname = 'public' and relkind = 'p'`,
  `select 'table of a special kind', relname::text from ${RELATIONS} and nspname = 'public' and relkind = 'r' and (relispartition
     or exists (select from pg_inherits where c.oid in (inhrelid, inhparent))
     or not exists (select from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped))`,
  `select 'column with a type of its own', ${COLUMN_NAME} from ${COLUMNS} and t.oid >= ${FIRST_USER_OID}`,
  `select 'generated column', ${COLUMN_NAME} from ${COLUMNS} and attgenerated <> ''`,
  `select 'large object', oid::text from pg_largeobject_metadata`, // anybody may choose their ids
].join('\nunion all ');

/** Objects without rows: a restore creates the schema by migrations, so it would not use them. */
const LEFT_OUT = [
  ...Object.entries(COLLECTED).map(
    ([kind, catalogue]) =>
      `select '${kind}', count(*) from ${catalogue} o where oid >= ${FIRST_USER_OID} and not ${isMember(catalogue, 'o.oid')}`,
  ),
  `select 'view', count(*) from ${RELATIONS} and relkind in ('v', 'm')`,
  `select 'foreign table', count(*) from ${RELATIONS} and relkind = 'f'`,
  `select 'type', count(*) from pg_type t where oid >= ${FIRST_USER_OID} and typcategory <> 'A'
     and not exists (select from pg_class c where c.oid = typrelid and relkind <> 'c') and not ${isMember('pg_type', 't.oid')}`,
  `select 'function', count(*) from pg_proc p where oid >= ${FIRST_USER_OID} and not ${isPlainFunction('p')} and not ${isMember('pg_proc', 'p.oid')}`,
].join('\nunion all ');

/**
 * A dump that silently omits rows is worse than none.
 * @throws DumpError for all objects whose rows a restore of the dump would not bring back
 */
export async function refuseUnknownObjects(client: Client): Promise<void> {
  const { rows } = await client.query<[kind: string, name: string]>({ text: UNKNOWN, rowMode: 'array' });
  if (rows.length === 0) return;
  const named = rows.slice(0, 5).map(([kind, name]) => `${kind} ${JSON.stringify(name)}`);
  throw new DumpError(`the database holds what a dump cannot hold: ${named.join(', ')}`);
}

export async function countLeftOut(client: Client): Promise<Record<string, number>> {
  const { rows } = await client.query<[kind: string, count: string]>({ text: LEFT_OUT, rowMode: 'array' });
  return Object.fromEntries(rows.map(([kind, count]) => [kind, Number(count)]).filter(([, count]) => count !== 0));
}

import type { Client } from 'pg';
import { ownRelationSql, plainFunctionSql, standaloneSql } from './dumpable.ts';

/** One object of a dump: its name and type for a comment line, and the statement that creates it. */
export interface DumpEntry {
  name: string;
  type: string;
  statement: string;
}

export interface DumpTable {
  name: string;
  sqlName: string;
  columns: { name: string; sqlName: string }[];
}

/**
 * Which rows of a table to dump: `all`, `none`, or all rows with some columns replaced. Maps the name of each replaced column
 * to an SQL expression.
 */
export type RowsOf = (table: string) => 'all' | 'none' | Readonly<Record<string, string>>;

const inPublic = (catalogue: string) => `${catalogue} = 'public'::regnamespace`;
const OWN_RELATION = ownRelationSql('c');
const ofOwnRelation = (oid: string) => `${oid} in (select c.oid from pg_class c where ${OWN_RELATION})`;
const STANDALONE_CONSTRAINT = `${ofOwnRelation('conrelid')} and ${standaloneSql('pg_constraint', 'con.oid')}`;

const SEQUENCE_OPTIONS = `format('START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s',
  seqstart, seqincrement, seqmin, seqmax, seqcache, case when seqcycle then ' CYCLE' else '' end)`;
const ownedSequences = (kind: string) => `pg_sequence s join pg_class c on c.oid = seqrelid
  join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass and deptype = '${kind}'
  join pg_attribute a on attrelid = refobjid and attnum = refobjsubid where ${OWN_RELATION}`;

/** The table's storage options (fillfactor, autovacuum). */
const STORAGE_OPTIONS = `(select ' WITH (' || string_agg(format('%I=%L', split_part(o, '=', 1), substr(o, strpos(o, '=') + 1)), ', ') || ')'
  from unnest(reloptions) o)`;

const COLUMN = `format('    %I %s%s%s', attname, format_type(atttypid, atttypmod),
  case when ${standaloneSql('pg_attrdef', 'ad.oid')} then ' DEFAULT ' || pg_get_expr(adbin, adrelid) end, case when attnotnull then ' NOT NULL' end)`;

/** Everything needed before the rows. Functions and sequences come first, because defaults may use them. */
const BEFORE_ROWS = [
  `select proname || '()', 'FUNCTION', pg_get_functiondef(oid) from pg_proc p where ${inPublic('pronamespace')} and ${plainFunctionSql('p')} order by 1, oid`,
  `select relname, 'SEQUENCE', format('CREATE SEQUENCE %s AS %s %s', c.oid::regclass, format_type(seqtypid, null), ${SEQUENCE_OPTIONS})
   from pg_sequence join pg_class c on c.oid = seqrelid where ${OWN_RELATION}
     and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'i') order by 1`,
  `select relname, 'TABLE', format(E'CREATE TABLE %s (\\n%s\\n)%s', c.oid::regclass, concat_ws(E',\\n',
     (select string_agg(${COLUMN}, E',\\n' order by attnum) from pg_attribute left join pg_attrdef ad on adrelid = attrelid and adnum = attnum
      where attrelid = c.oid and attnum > 0 and not attisdropped),
     (select string_agg(format('    CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)), E',\\n' order by conname)
      from pg_constraint con where conrelid = c.oid and contype = 'c' and convalidated and ${standaloneSql('pg_constraint', 'con.oid')})), ${STORAGE_OPTIONS})
   from pg_class c where ${OWN_RELATION} and relkind = 'r' order by 1`,
  `select relname, 'SEQUENCE OWNED BY', format('ALTER SEQUENCE %s OWNED BY %s.%I', c.oid::regclass, refobjid::regclass, attname)
   from ${ownedSequences('a')} order by 1`,
  `select relname, 'SEQUENCE', format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)',
     refobjid::regclass, attname, case attidentity when 'a' then 'ALWAYS' else 'BY DEFAULT' end, c.oid::regclass, ${SEQUENCE_OPTIONS})
   from ${ownedSequences('i')} order by 1`,
  `select identity, 'COMMENT', format('COMMENT ON %s %s IS %L', upper(case type when 'table column' then 'column' else type end), identity, description)
   from pg_description, pg_identify_object(classoid, objoid, objsubid)
   where classoid = 'pg_class'::regclass and ${ofOwnRelation('objoid')}
     or classoid = 'pg_proc'::regclass and objoid in (select oid from pg_proc p where ${inPublic('pronamespace')} and ${plainFunctionSql('p')})
   order by 1`,
];

/** Objects that are faster to create after the rows, or that would interfere with loading them. */
const AFTER_ROWS = [
  ...[`contype in ('p', 'u')`, `contype = 'c' and not convalidated`].map(
    (
      which,
    ) => `select conname, 'CONSTRAINT', format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
     from pg_constraint con where ${STANDALONE_CONSTRAINT} and ${which} order by conrelid::regclass::text, 1`,
  ),
  // An invalid index is a leftover of a failed attempt to create it.
  `select relname, 'INDEX', pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid
   where ${ofOwnRelation('indrelid')} and indisvalid and ${standaloneSql('pg_class', 'indexrelid')}
     and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u')) order by 1`,
  `select identity, 'COMMENT', format('COMMENT ON INDEX %s IS %L', identity, description)
   from pg_description, pg_identify_object(classoid, objoid, objsubid) where classoid = 'pg_class'::regclass
     and objoid in (select indexrelid from pg_index where ${ofOwnRelation('indrelid')} and indisvalid and ${standaloneSql('pg_class', 'indexrelid')}) order by 1`,
  `select tgname, 'TRIGGER', pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid
   where ${OWN_RELATION} and not tgisinternal and tgenabled = 'O' and tgconstraint = 0 and ${standaloneSql('pg_trigger', 't.oid')} order by 1`,
  `select conname, 'FK CONSTRAINT', format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
   from pg_constraint con where ${STANDALONE_CONSTRAINT} and contype = 'f' order by conrelid::regclass::text, 1`,
];

export const readEntriesBeforeRows = (client: Client) => readEntries(client, BEFORE_ROWS);
export const readEntriesAfterRows = (client: Client) => readEntries(client, AFTER_ROWS);

async function readEntries(client: Client, queries: string[]): Promise<DumpEntry[]> {
  const entries: DumpEntry[] = [];
  for (const text of queries) {
    const { rows } = await client.query<[name: string, type: string, statement: string]>({ text, rowMode: 'array' });
    entries.push(...rows.map(([name, type, statement]) => ({ name, type, statement })));
  }
  return entries;
}

/** Tables rewritten since the snapshot: `relfilenode` is as of the snapshot, the function's result is current. */
const REWRITTEN = `select from pg_class c where ${OWN_RELATION} and relkind = 'r' and pg_relation_filenode(c.oid) is distinct from relfilenode`;

/**
 * Locks the tables against changes that bypass older snapshots, such as TRUNCATE: before that, their rows may vanish.
 * @throws Error with the code 55P03 (lock_not_available) when they did; a new snapshot is then needed
 */
export async function lockTables(client: Client): Promise<DumpTable[]> {
  const { rows } = await client.query<DumpTable>(
    `select relname as name, c.oid::regclass::text as "sqlName",
       json_agg(json_build_object('name', attname, 'sqlName', quote_ident(attname)) order by attnum) as columns
     from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
     where ${OWN_RELATION} and relkind = 'r' group by c.oid, relname order by relname`,
  );
  if (rows.length > 0)
    await client.query(`lock table ${rows.map(({ sqlName }) => sqlName).join(', ')} in access share mode`);
  const { rowCount } = await client.query(REWRITTEN);
  if (rowCount) throw Object.assign(new Error('A table was rewritten after the snapshot.'), { code: '55P03' });
  return rows;
}

/** The positions of the sequences. Sequences are not part of snapshots, so the positions are never lower than the rows require. */
export async function readSequencePositions(client: Client): Promise<DumpEntry[]> {
  const { rows } = await client.query<{ name: string; sqlName: string; literal: string }>(
    `select relname as name, c.oid::regclass::text as "sqlName", quote_literal(c.oid::regclass::text) as literal
     from pg_class c where ${OWN_RELATION} and relkind = 'S' order by relname`,
  );
  const entries: DumpEntry[] = [];
  for (const { name, sqlName, literal } of rows) {
    const position = await client.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${sqlName}`,
    );
    for (const { last, called } of position.rows)
      entries.push({
        name,
        type: 'SEQUENCE SET',
        statement: `SELECT pg_catalog.setval(${literal}, ${last}, ${called})`,
      });
  }
  return entries;
}

/** The disk size of the rows to dump, without indexes, which approximates the size of the dump. */
export async function readTableBytes(client: Client, rowsOf: RowsOf): Promise<number> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_table_size(oid) as bytes from pg_class c where ${OWN_RELATION} and relkind = 'r'`,
  );
  return rows.reduce((sum, { name, bytes }) => sum + (rowsOf(name) === 'none' ? 0 : Number(bytes)), 0);
}

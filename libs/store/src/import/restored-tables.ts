import { isBlank, type ColumnType } from '@taskmesh/contracts';
import type { StoreTables } from '@taskmesh/internal-api';
import type { Database } from '../database/database.ts';
import type { SqlSession } from '../database/session.ts';

/** The schema with a loaded backup's rows, in bare tables whose columns may have any built-in type. */
export const RESTORED = 'restored';
/** The schema of the store that is made from these tables. */
export const STORE = 'public';

export type RestoredSchema = typeof RESTORED | typeof STORE;

export type Columns = Map<string, string>;

/** $1: schema. Sorted by oid, so that a table follows the tables that it references. */
const TABLES = `
    select c.relname as name,
      coalesce(json_object_agg(a.attname, pg_catalog.format_type(a.atttypid, null)) filter (where a.attname is not null), '{}') as columns
    from pg_catalog.pg_class c
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = pg_catalog.to_regnamespace($1) and c.relkind in ('r', 'p') group by c.oid, c.relname order by c.oid`;

/** Lists all tables of the schema in the order of creation. */
export async function tablesOf(session: SqlSession, schema: RestoredSchema): Promise<Map<string, Columns>> {
  const rows = await session.run<{ name: string; columns: Record<string, string> }>(TABLES, [schema]);
  return new Map(rows.map(({ name, columns }) => [name, new Map(Object.entries(columns))]));
}

/** Limits the names to read: a dump may have many more columns than a service needs. */
const MAX_COLUMNS = 20_000;

const COUNT_COLUMNS = `
    select pg_catalog.count(*)::text as columns
    from pg_catalog.pg_class c left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = pg_catalog.to_regnamespace('${RESTORED}') and c.relkind in ('r', 'p')`;

/** Call this first. Returns a sentence; undefined if the number of columns is acceptable. */
export async function findTooManyColumns(session: SqlSession): Promise<string | undefined> {
  const [size] = await session.run<{ columns: string }>(COUNT_COLUMNS);
  return Number(size?.columns) > MAX_COLUMNS ? `The dump has more than ${MAX_COLUMNS} columns.` : undefined;
}

/** Returns an empty map if there is no such table. */
export async function columnsOf(
  session: SqlSession,
  table: string,
  schema: RestoredSchema = RESTORED,
): Promise<Columns> {
  return (await tablesOf(session, schema)).get(table) ?? new Map();
}

const MAX_NAMED_COLUMNS = 50;

/** Lists restored tables, and columns as `table.column`, that the store lacks. Ignores other tables in `known`. */
export async function findLostColumns(
  session: SqlSession,
  kept: Record<string, readonly string[]>,
  known: readonly string[],
): Promise<string[]> {
  const lost: string[] = [];
  for (const [table, columns] of await tablesOf(session, RESTORED)) {
    const own = Object.hasOwn(kept, table) ? kept[table] : undefined;
    if (!own && known.includes(table)) continue;
    if (!own) lost.push(table);
    else lost.push(...[...columns.keys()].filter((name) => !own.includes(name)).map((name) => `${table}.${name}`));
  }
  lost.sort();
  return lost.length > MAX_NAMED_COLUMNS
    ? [...lost.slice(0, MAX_NAMED_COLUMNS), `${lost.length - MAX_NAMED_COLUMNS} more`]
    : lost;
}

const SQL_TYPE_NAMES: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'boolean',
  integer: 'integer',
  'timestamptz(3)': 'timestamp with time zone',
};

/** Returns SQL that converts a column of row `r` to the given type, or to null if the value is invalid. */
export function valueOf(columns: Columns, name: string, type: ColumnType): string {
  const raw = `r.${name}`;
  if (columns.get(name) === SQL_TYPE_NAMES[type]) return type === 'timestamptz(3)' ? `${raw}::${type}` : raw;
  if (type === 'text') return `${raw}::text`;
  return `case when ${isValueSql(`${raw}::text`, type)} then ${raw}::text::${type} end`;
}

/** Below the maximum of the SQL type, to leave room for further versions. */
export const MAX_VERSION = 2_000_000_000;

/** Returns SQL that replaces an unusable version with 1. */
export const versionOrOne = (value: string): string =>
  `case when ${value} between 1 and ${MAX_VERSION} then ${value} else 1 end`;

/** Returns a sentence that names the missing columns; undefined if all are present. */
export function findMissingColumns(table: string, required: readonly string[], columns: Columns): string | undefined {
  if (columns.size === 0) return `There is no table ${table}.`;
  const missing = required.filter((name) => !columns.has(name));
  return missing.length > 0 ? `The table ${table} lacks columns: ${missing.join(', ')}.` : undefined;
}

/** Returns a sentence that says why the store cannot accept the rows of its table; undefined if it can. */
export async function findRefusedRows(
  session: SqlSession,
  schema: RestoredSchema,
  { rules, columns }: { rules: StoreRules; columns: Columns },
): Promise<string | undefined> {
  const { table, rulesFor, values, check } = rules;
  const all = [...columnRules(rules.columns, schema, columns), ...rulesFor(columns)];
  return (await findBrokenRules(session, { schema, table }, all, values)) ?? (await check?.(session, schema, columns));
}

function columnRules(declared: StoreRules['columns'], schema: RestoredSchema, columns: Columns): RowRule[] {
  const present = Object.entries(declared).filter(([name]) => columns.has(name));
  return present.flatMap(([name, { type, isNullable, isVersion }]) => {
    const value = valueOf(columns, name, type);
    const range = `between 1 and ${MAX_VERSION}`;
    if (isVersion)
      return schema === STORE ? [{ sentence: `${name} is ${range}`, broken: `${value} not ${range}` }] : [];
    const typeRule = isNullable
      ? {
          sentence: `${name} must be of the type ${type}, or null`,
          broken: `(r.${name} is not null and ${value} is null)`,
        }
      : { sentence: `${name} is needed and must be of the type ${type}`, broken: `${value} is null` };
    return type === 'timestamptz(3)' ? [typeRule, supportedYearsRule(name, value)] : [typeRule];
  });
}

/** Restricts times to years that JSON and JavaScript can express; PostgreSQL also has infinity and later years. */
export const supportedYearsRule = (name: string, value: string): RowRule => ({
  sentence: `${name} is in the years 0001 to 9999`,
  broken: `(${value} < '0001-01-01T00:00Z' or ${value} >= '10000-01-01T00:00Z')`,
});

/** Returns a sentence that says how many rows break which rules. `values` are the parameters of the rules' SQL. */
export async function findBrokenRules(
  session: SqlSession,
  { schema, table }: { schema: RestoredSchema; table: string },
  rules: RowRule[],
  values: unknown[],
): Promise<string | undefined> {
  const [counts] = await session.run<Record<string, string>>(countBroken(`${schema}.${table}`, rules), values);
  const broken = rules.flatMap(({ sentence }, index) => {
    const count = Number(counts?.[`broken_${index}`]);
    return count > 0 ? [`${sentence} (violated by ${count} ${count === 1 ? 'row' : 'rows'})`] : [];
  });
  return broken.length > 0 ? `Rows of the table ${table} break the rules: ${broken.join('; ')}.` : undefined;
}

/** Checks all rules in one pass: the columns `broken_0`, `broken_1` … count the rows that break each. */
function countBroken(table: string, rules: RowRule[]): string {
  const counts = rules.map(({ broken }, index) => `count(*) filter (where ${broken})::text as broken_${index}`);
  return `select ${counts.join(', ')} from ${table} r`;
}

const LAST_OF_THE_BASIC_PLANE = 0xffff;

export function filterCharacters(matches: (character: string) => boolean): string {
  return Array.from({ length: LAST_OF_THE_BASIC_PLANE }, (_, code) => String.fromCharCode(code + 1))
    .filter((character) => character.isWellFormed() && matches(character))
    .join('');
}

/** All characters of which a blank text may consist; none is outside the basic plane. */
export const BLANKS = filterCharacters(isBlank);

/** A rule for every row. `broken` is SQL that is true for a row `r` that breaks the rule. */
export interface RowRule {
  sentence: string;
  broken: string;
}

export interface ImportedColumn {
  type: ColumnType;
  isNullable?: boolean;
  /** Counts from 1. Unusable values restart at 1, unless rows are imported unchanged. */
  isVersion?: boolean;
}

/** The live store (`from`) and a database on the same server (`to`). */
export interface Stores {
  from: SqlSession;
  to: SqlSession;
}

export interface StoreRules {
  /** The only table imported from dumps made elsewhere. */
  table: string;
  columns: Record<string, ImportedColumn>;
  /** Columns that a dump must have; the others have defaults in the store. */
  required: readonly string[];
  rulesFor(columns: Columns): RowRule[];
  /** The parameters of the rules' SQL. */
  values: unknown[];
  /** Checks that span several rows. Resolves with a sentence; undefined if all rows are valid. */
  check?(session: SqlSession, schema: RestoredSchema, columns: Columns): Promise<string | undefined>;
  /** The refusal of a dump with rows that violate a unique constraint. */
  duplicates: string;
  /** Tables that archives made by Taskmesh can bring back. */
  tables: StoreTables;
  /** Completes a store with its imported rows, in one transaction in `to`; the restored rows are still readable. */
  complete(stores: Stores, source: 'archive' | 'dump'): Promise<void>;
}

export type StoreDatabase = Pick<Database, 'migrate' | 'versions' | 'close'>;

/** Returns SQL for whether a text is a valid value of a type; works only in import sessions. */
export const isValueSql = (text: string, type: string): string => `pg_temp.is_value(${text}, '${type}')`;

/** Defines the function of `isValueSql` in a session. It tries a cast, because PostgreSQL has a function for this only from 16 on. */
export const CREATE_IS_VALUE = `create function pg_temp.is_value(value text, type text) returns boolean language plpgsql stable strict as $$
    begin
      execute pg_catalog.format('select %L::%s', value, type);
      return true;
    exception when data_exception then
      return false;
    end $$`;

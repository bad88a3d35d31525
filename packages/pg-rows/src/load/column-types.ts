import type { TypeName } from 'libpg-query';
import { escapeIdentifier } from 'pg';
import { as, namePartsOf } from './syntax-nodes.ts';

/** Types whose input functions execute and look up nothing. All others become text, which can hold any value of a dump. */
const BUILT_IN_TYPES = new Set([
  'bit', 'bool', 'box', 'bpchar', 'bytea', 'char', 'cidr', 'circle', 'date', 'float4', 'float8', 'inet', 'int2', 'int4', 'int8',
  'interval', 'json', 'jsonb', 'line', 'lseg', 'macaddr', 'macaddr8', 'name', 'numeric', 'path', 'point', 'polygon', 'text', 'time',
  'timestamp', 'timestamptz', 'timetz', 'tsquery', 'tsvector', 'uuid', 'varbit', 'varchar',
]); // prettier-ignore

const SERIAL_TYPES: Record<string, string> = {
  serial: 'int4', serial4: 'int4', bigserial: 'int8', serial8: 'int8', smallserial: 'int2', serial2: 'int2',
}; // prettier-ignore

/** Types whose length is kept. Not `bit` and `char`: they pad short values, so a huge length would inflate every row. */
const WITH_LENGTH = new Set(['interval', 'numeric', 'time', 'timestamp', 'timestamptz', 'timetz', 'varchar']);
const TEXT = 'pg_catalog.text';

export interface ColumnType {
  sql: string;
  /** Whether the type in the dump supplies a value for an omitted column. */
  hasDefault: boolean;
}

export type FindDomain = (schema: string | undefined, name: string) => ColumnType | undefined;

export function columnType({ names, typmods = [], arrayBounds, setof }: TypeName, findDomain: FindDomain): ColumnType {
  const { schema, name } = namePartsOf(names);
  const isArray = Boolean(arrayBounds?.length) || setof === true;
  const serial = schema === undefined ? SERIAL_TYPES[name] : undefined;
  if (serial !== undefined) return { sql: `pg_catalog.${serial}`, hasDefault: true };
  if ((schema !== undefined && schema !== 'pg_catalog') || !BUILT_IN_TYPES.has(name)) {
    const type = findDomain(schema, name) ?? { sql: TEXT, hasDefault: false };
    return isArray ? arrayOf(type.sql) : type;
  }
  const numbers = typmods.map((node) => as(node, 'A_Const')?.ival).map((value) => value && (value.ival ?? 0));
  const hasLength = WITH_LENGTH.has(name) && numbers.length > 0 && numbers.every((value) => value !== undefined);
  const sql = `pg_catalog.${escapeIdentifier(name)}${hasLength ? `(${numbers.join(', ')})` : ''}`;
  return isArray ? arrayOf(sql) : { sql, hasDefault: false };
}

/** An array of a domain over an array has a different text format, so it becomes text. */
function arrayOf(sql: string): ColumnType {
  return { sql: sql.endsWith('[]') ? TEXT : `${sql}[]`, hasDefault: false };
}

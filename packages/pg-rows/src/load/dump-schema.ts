import { escapeIdentifier } from 'pg';
import type { ColumnType } from './column-types.ts';
import { refuse } from './load-error.ts';
import type { RangeVar } from './syntax-nodes.ts';

export interface Column {
  name: string;
  type: string;
  /** A constant as newly written SQL. */
  default?: string | undefined;
  /** Whether the dump's default was dropped, so that rows must not omit the column. */
  defaultIsLost: boolean;
  /** Computed from other columns. Dumps have no values for such a column, and our tables omit it. */
  isGenerated: boolean;
}

export interface Table {
  /** Quoted, for our own SQL. */
  sqlName: string;
  columns: Map<string, Column>;
  children: Table[];
  /** Whether the table is created in the new database. Tables of other schemas are created only as parts of a loaded table. */
  isLoaded: boolean;
  lostRows: boolean;
  /** Whether the dump has declared a uniqueness constraint so far. Our tables have no constraints. */
  isUnique: boolean;
}

export interface Skipped {
  kind: string;
  count: number;
}

interface Declared {
  parents: Table[];
  isUnique: boolean;
}

/** The objects that a dump has declared so far, and those that were skipped. */
export type DumpSchema = ReturnType<typeof createDumpSchema>;

export const PUBLIC = 'public';

export interface DumpSchemaOptions {
  /** The schema in which to create the tables. */
  schema: string;
  maxTables?: number | undefined;
}

export function createDumpSchema({ schema: target, maxTables = 1_000 }: DumpSchemaOptions) {
  const tables = new Map<string, Table>();
  const domains = new Map<string, ColumnType>();
  const skipped = new Map<string, number>();
  let current = PUBLIC;
  let loaded = 0;

  const keyOf = (schema: string | undefined, name: string) => JSON.stringify([schema || current, name]);
  const skip = (kind: string): void => void skipped.set(kind, (skipped.get(kind) ?? 0) + 1);

  const create = (table: Table): string => {
    table.isLoaded = true;
    if (++loaded > maxTables) refuse(`it has more than ${maxTables} tables`);
    const columns = [...table.columns.values()].filter(({ isGenerated }) => !isGenerated);
    return `create table ${table.sqlName} (${columns.map(columnSql).join(', ')});`;
  };

  /** Loads a part of a loaded table together with all its own parts, in any schema. */
  const inherit = (child: Table, parent: Table): string => {
    if (child.lostRows) refuse('a table becomes a part of another one after its rows were skipped');
    const creation = child.isLoaded
      ? ''
      : `${create(child)} ${child.children.map((part) => inherit(part, child)).join(' ')}`;
    return `${creation} alter table ${child.sqlName} inherit ${parent.sqlName};`;
  };

  return {
    skip,
    skipped(): Skipped[] {
      const outside = [...tables.values()].filter(({ isLoaded }) => !isLoaded).length;
      const all = [...skipped, ...(outside > 0 ? [['table outside of public', outside] as const] : [])];
      return all.map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
    },

    /** Sets the schema of unqualified names. */
    useSchema: (name: string) => void (current = name),
    schemaOf: ({ schemaname }: RangeVar): string => schemaname || current,

    find: ({ schemaname, relname = '' }: RangeVar): Table | undefined => tables.get(keyOf(schemaname, relname)),
    knows: (schema: string | undefined, name: string): boolean => tables.has(keyOf(schema, name)),

    hasTablesIn: (schema: string): boolean =>
      [...tables.keys()].some((key) => (JSON.parse(key) as string[])[0] === schema),

    declareDomain: (schema: string | undefined, name: string, type: ColumnType) =>
      void domains.set(keyOf(schema, name), type),
    findDomain: (schema: string | undefined, name: string) => domains.get(keyOf(schema, name)),

    /** Returns SQL that creates the table; empty if the table is not loaded. */
    declare(relation: RangeVar, columns: Map<string, Column>, { parents, isUnique }: Declared): string {
      const { relname = '', relpersistence } = relation;
      const schema = relation.schemaname || current;
      const isLoaded = schema === PUBLIC && relpersistence !== 't';
      const name = schema === PUBLIC ? relname : `${schema}.${relname}`;
      const sqlName = `${escapeIdentifier(target)}.${escapeIdentifier(name)}`;
      const table: Table = { sqlName, columns, children: [], isLoaded: false, lostRows: false, isUnique };
      if (tables.has(keyOf(schema, relname))) refuse(`relation "${relname}" already exists`);
      tables.set(keyOf(schema, relname), table);
      const creation = isLoaded ? create(table) : '';
      const parts = parents.map((parent) => this.attach(table, parent)).join(' ');
      return `${creation} ${parts}`.trim();
    },

    /** Makes `child` a part of `parent`, so that its rows also appear in `parent`. */
    attach(child: Table, parent: Table): string {
      parent.children.push(child);
      return parent.isLoaded ? inherit(child, parent) : '';
    },
  };
}

export function columnSql({ name, type, default: value }: Column): string {
  return `${escapeIdentifier(name)} ${type}${value === undefined ? '' : ` default ${value}`}`;
}

import { escapeIdentifier, escapeLiteral } from 'pg';
import { constantSql } from './constants.ts';
import { PUBLIC, type Column, type DumpSchema, type Table } from './dump-schema.ts';
import { refuse } from './load-error.ts';
import { as, textOf, type Node, type NodeOf, type RangeVar } from './syntax-nodes.ts';

/** Returns newly written SQL for the same rows; undefined if their table is not loaded. */
export function planCopy(schema: DumpSchema, statement: NodeOf<'CopyStmt'>): string | undefined {
  const { relation = {}, attlist, is_from, is_program, filename, query, whereClause, options = [] } = statement;
  if (!is_from || is_program || filename !== undefined || query) refuse('COPY is allowed FROM stdin only');
  if (whereClause) refuse('COPY with a condition is not allowed');
  const settings = ['format text', ...options.flatMap(copyOption)];
  const table = targetOf(schema, relation);
  if (!table) return undefined;
  const columns = targetColumns(table, attlist?.map(textOf));
  return `copy ${table.sqlName} (${namesOf(columns)}) from stdin with (${settings.join(', ')})`;
}

function copyOption(option: Node): string | [] {
  const { defname = '', arg } = as(option, 'DefElem') ?? {};
  if (defname === 'format' && textOf(arg) === 'text') return [];
  if (['delimiter', 'null', 'default'].includes(defname)) return `${defname} ${escapeLiteral(textOf(arg))}`;
  const header = arg ? valueOf(arg) : 'true';
  if (defname === 'header' && /^match$/i.test(header)) return 'header match'; // since PostgreSQL 15
  if (defname === 'header' && /^(true|on)$/i.test(header)) return 'header';
  return refuse(`COPY with the option ${defname} is not allowed`);
}

const valueOf = (node: Node) => ('Boolean' in node ? String(node.Boolean.boolval ?? false) : textOf(node));

/** Undefined for tables that are skipped, whether the dump declares them or not. */
function targetOf(schema: DumpSchema, relation: RangeVar): Table | undefined {
  const table = schema.find(relation);
  if (!table && schema.schemaOf(relation) === PUBLIC) refuse(`relation "${relation.relname}" does not exist`);
  if (!table) schema.skip('data of an unknown table');
  if (table && !table.isLoaded) table.lostRows = true;
  return table?.isLoaded ? table : undefined;
}

/** The named columns, or all columns that rows have values for. */
function targetColumns(table: Table, names: string[] | undefined): Column[] {
  const all = [...table.columns.values()].filter(({ isGenerated }) => !isGenerated);
  const columns = names?.map((name) => table.columns.get(name) ?? refuse(`column "${name}" does not exist`)) ?? all;
  if (columns.some(({ isGenerated }) => isGenerated)) refuse('a generated column has no value of its own');
  checkOmitted(table, columns);
  return columns;
}

function checkOmitted(table: Table, columns: Column[]): void {
  const named = new Set(columns);
  for (const column of table.columns.values())
    if (column.defaultIsLost && !column.isGenerated && !named.has(column))
      refuse(`the column "${column.name}" is left out, and its default value was not loaded`);
}

const namesOf = (columns: Column[]) => columns.map(({ name }) => escapeIdentifier(name)).join(', ');

/** Allows only constants, because computed values could differ from those in the dumped database. */
export function planInsert(schema: DumpSchema, statement: NodeOf<'InsertStmt'>): string | undefined {
  const { relation = {}, cols, selectStmt, onConflictClause, override: _override, ...more } = statement;
  const { valuesLists, op, limitOption, ...rest } = as(selectStmt, 'SelectStmt') ?? {};
  const isPlain = op === 'SETOP_NONE' && limitOption === 'LIMIT_OPTION_DEFAULT';
  if (!valuesLists || !isPlain || Object.keys({ ...more, ...rest }).length > 0)
    refuse('INSERT is allowed with VALUES only');
  if (onConflictClause && onConflictClause.action !== 'ONCONFLICT_NOTHING')
    refuse('INSERT … ON CONFLICT is allowed with DO NOTHING only');
  const table = targetOf(schema, relation);
  if (!table) return undefined;
  if (onConflictClause && table.isUnique)
    refuse('INSERT … ON CONFLICT is allowed only before the constraints of its table, where it has no effect');
  const rows = valuesLists.map((row) => as(row, 'List')?.items ?? []);
  const columns = insertColumns(table, cols, rows[0]?.length ?? 0);
  const lines = rows.map((row) => `(${rowOf(schema, columns, row)})`);
  const stored = columns.filter(({ isGenerated }) => !isGenerated);
  return `insert into ${table.sqlName} (${namesOf(stored)}) values ${lines.join(',')};`;
}

function insertColumns(table: Table, cols: Node[] | undefined, count: number): Column[] {
  const all = [...table.columns.values()];
  const columns = cols?.map((node) => {
    const { name = '', indirection } = as(node, 'ResTarget') ?? {};
    return (indirection ? undefined : table.columns.get(name)) ?? refuse(`column "${name}" does not exist`);
  });
  const targets = columns ?? all.slice(0, count);
  if (targets.length < count) refuse('INSERT has more expressions than target columns');
  checkOmitted(table, targets);
  return targets;
}

function rowOf(schema: DumpSchema, columns: Column[], row: Node[]): string {
  if (row.length !== columns.length) refuse('INSERT has rows of different lengths');
  const cells: string[] = [];
  for (const [index, node] of row.entries()) {
    const column = columns[index];
    const isDefault = 'SetToDefault' in node;
    if (column?.isGenerated) {
      if (!isDefault) refuse('a generated column has no value of its own');
    } else if (isDefault) {
      if (column?.defaultIsLost) refuse(`the default value of the column "${column.name}" was not loaded`);
      cells.push('default');
    } else cells.push(constantSql(node, schema.findDomain) ?? refuse('INSERT is allowed with constants only'));
  }
  return cells.join(',');
}

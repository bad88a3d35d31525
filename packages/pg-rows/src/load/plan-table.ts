import type { Constraint, TypeName } from 'libpg-query';
import { columnType } from './column-types.ts';
import { constantSql } from './constants.ts';
import { columnSql, type Column, type DumpSchema, type Table } from './dump-schema.ts';
import { refuse } from './load-error.ts';
import { as, type Node, type NodeOf, type RangeVar } from './syntax-nodes.ts';

/** Returns newly written SQL for a table of the dump, with nothing but its columns. Empty if there is nothing to create. */
export function planCreateTable(schema: DumpSchema, statement: NodeOf<'CreateStmt'>): string {
  const { relation = {}, tableElts = [], inhRelations = [], ofTypename, if_not_exists } = statement;
  if (ofTypename) refuse('a table of a composite type is not allowed in a dump');
  if (if_not_exists && schema.find(relation)) return '';
  const parents = inhRelations.map((node) => existingTable(schema, as(node, 'RangeVar')));
  const columns = new Map<string, Column>(parents.flatMap((parent) => [...parent.columns]));
  for (const element of tableElts) addElement(schema, columns, element);
  const constraints = tableElts.flatMap((element) =>
    'ColumnDef' in element ? (element.ColumnDef.constraints ?? []) : [element],
  );
  return schema.declare(relation, columns, { parents, isUnique: constraints.some(isUnique) });
}

function addElement(schema: DumpSchema, columns: Map<string, Column>, element: Node): void {
  if ('Constraint' in element) return schema.skip('constraint');
  if ('TableLikeClause' in element) {
    for (const column of existingTable(schema, element.TableLikeClause.relation).columns.values())
      columns.set(column.name, { ...column, default: undefined, defaultIsLost: hasDefault(column) });
  } else if ('ColumnDef' in element) {
    const { colname = '', typeName } = element.ColumnDef;
    const inherited = columns.get(colname);
    if (typeName) columns.set(colname, columnOf(schema, element.ColumnDef));
    else if (inherited) columns.set(colname, withDefault(schema, inherited, element.ColumnDef.constraints));
  } else refuse('a part of a table is of an unknown kind');
}

const UNIQUE = new Set(['CONSTR_EXCLUSION', 'CONSTR_PRIMARY', 'CONSTR_UNIQUE']);
const isUnique = (node: Node | undefined) => UNIQUE.has(as(node, 'Constraint')?.contype ?? '');

const hasDefault = ({ default: value, defaultIsLost }: Column) => value !== undefined || defaultIsLost;

function existingTable(schema: DumpSchema, relation: RangeVar | undefined): Table {
  return (relation && schema.find(relation)) ?? refuse(`relation "${relation?.relname}" does not exist`);
}

type Definition = NodeOf<'ColumnDef'>;

function columnOf(schema: DumpSchema, { colname = '', typeName, constraints }: Definition): Column {
  const type = columnType(typeName as TypeName, schema.findDomain);
  const column = { name: colname, type: type.sql, defaultIsLost: type.hasDefault, isGenerated: false };
  return withDefault(schema, column, constraints);
}

function withDefault(schema: DumpSchema, column: Column, constraints: Node[] = []): Column {
  let result = column;
  for (const node of constraints) {
    const constraint = as(node, 'Constraint');
    if (constraint) result = withConstraint(schema, result, constraint);
  }
  return result;
}

function withConstraint(schema: DumpSchema, column: Column, { contype, raw_expr }: Constraint): Column {
  switch (contype) {
    case 'CONSTR_DEFAULT':
      return changeDefault(schema, column, raw_expr);
    case 'CONSTR_IDENTITY':
      schema.skip('default');
      return { ...column, defaultIsLost: true };
    case 'CONSTR_GENERATED':
      schema.skip('generated column');
      return { ...column, isGenerated: true };
    case 'CONSTR_NULL':
    case 'CONSTR_NOTNULL':
      return column;
    default:
      schema.skip('constraint');
      return column;
  }
}

/** Keeps only constants, because other expressions would call functions of the dump. */
function changeDefault(schema: DumpSchema, column: Column, expression: Node | undefined): Column {
  const value = constantSql(expression, schema.findDomain);
  if (expression && value === undefined) schema.skip('default');
  return { ...column, default: value, defaultIsLost: expression !== undefined && value === undefined };
}

/** Commands that would change rows. All other commands affect only what surrounds the rows. */
const CHANGES_ROWS = new Set([
  'AT_AlterColumnType',
  'AT_DetachPartition',
  'AT_DetachPartitionFinalize',
  'AT_DropColumn',
  'AT_DropExpression',
  'AT_DropInherit',
  'AT_SetExpression',
]);

const SKIPPED_KINDS: Record<string, string> = {
  AT_AddConstraint: 'constraint',
  AT_AddIndex: 'constraint',
  AT_ChangeOwner: 'owner',
  AT_EnableRowSecurity: 'row level security',
  AT_ForceRowSecurity: 'row level security',
};

/** Returns newly written SQL for changes of a table that affect its rows. Skips all others. */
export function planAlterTable(schema: DumpSchema, statement: NodeOf<'AlterTableStmt'>): string {
  const { relation = {}, cmds = [], objtype } = statement;
  const table = objtype === 'OBJECT_TABLE' ? schema.find(relation) : undefined;
  const commands = cmds.map((cmd) => as(cmd, 'AlterTableCmd') ?? {});
  return commands.map((command) => planCommand(schema, table, command)).join(' ').trim(); // prettier-ignore
}

function planCommand(schema: DumpSchema, table: Table | undefined, command: NodeOf<'AlterTableCmd'>): string {
  const { subtype = '', def, name = '' } = command;
  const skip = () => (schema.skip(SKIPPED_KINDS[subtype] ?? 'option of a table'), '');
  if (!table) return skip(); // a view, an index, a foreign table
  if (CHANGES_ROWS.has(subtype)) refuse('a table cannot be changed in that way in a dump');
  if (isUnique(def)) table.isUnique = true;
  const column = table.columns.get(name);
  switch (subtype) {
    case 'AT_AttachPartition': {
      const part = as(def, 'PartitionCmd')?.name;
      const child = part && schema.find(part);
      return child ? schema.attach(child, table) : skip();
    }
    case 'AT_AddInherit':
      return schema.attach(table, existingTable(schema, as(def, 'RangeVar')));
    case 'AT_AddColumn':
      return addColumn(schema, table, as(def, 'ColumnDef') ?? refuse('a column of an unknown kind'));
    case 'AT_ColumnDefault':
      return column ? setDefault(table, changeDefault(schema, column, def)) : skip();
    case 'AT_AddIdentity':
      schema.skip('default');
      return column ? setDefault(table, { ...column, default: undefined, defaultIsLost: true }) : '';
    default:
      return skip();
  }
}

function addColumn(schema: DumpSchema, table: Table, definition: Definition): string {
  const column = columnOf(schema, definition);
  if (table.columns.has(column.name)) refuse('a column is added twice');
  if (column.defaultIsLost) refuse('a column is added whose default value cannot be loaded');
  table.columns.set(column.name, column);
  const isMade = table.isLoaded && !column.isGenerated;
  return isMade ? `alter table ${table.sqlName} add column ${columnSql(column)};` : '';
}

function setDefault(table: Table, column: Column): string {
  table.columns.set(column.name, column);
  if (!table.isLoaded || column.isGenerated) return '';
  return `alter table ${table.sqlName} alter column ${columnSql({ ...column, type: 'set', default: column.default ?? 'null' })};`;
}

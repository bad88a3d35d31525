import type { DumpSchema } from './dump-schema.ts';
import { columnType } from './column-types.ts';
import { refuse } from './load-error.ts';
import { as, namePartsOf, textOf, type Node, type NodeOf } from './syntax-nodes.ts';
import { planCopy, planInsert } from './plan-rows.ts';
import { planSelect, planSetting } from './plan-setting.ts';
import { planAlterTable, planCreateTable } from './plan-table.ts';

/** How to execute a statement of a dump. All SQL is newly written: no text of a dump reaches PostgreSQL unchanged. */
export type Plan =
  | { kind: 'nothing' }
  | { kind: 'run'; sql: string }
  /** Rows; several statements may be combined. */
  | { kind: 'insert'; sql: string }
  /** Reads the data that follow the statement. Without SQL, the data are skipped. */
  | { kind: 'copy'; sql: string | undefined };

const NOTHING: Plan = { kind: 'nothing' };

/** Statements that real dumps contain besides rows, by the names that a restore reports for them. */
const SKIPPED: Record<string, string[]> = {
  'access method': ['CreateAmStmt'],
  cast: ['CreateCastStmt'],
  comment: ['CommentStmt'],
  conversion: ['CreateConversionStmt'],
  'default privileges': ['AlterDefaultPrivilegesStmt'],
  'event trigger': ['AlterEventTrigStmt', 'CreateEventTrigStmt'],
  extension: ['AlterExtensionStmt', 'AlterObjectDependsStmt', 'CreateExtensionStmt'],
  'foreign server': ['CreateFdwStmt', 'CreateForeignServerStmt', 'CreateUserMappingStmt'],
  'foreign table': ['CreateForeignTableStmt'],
  function: ['AlterFunctionStmt', 'CreateFunctionStmt'],
  grant: ['GrantStmt'],
  index: ['IndexStmt'],
  language: ['CreatePLangStmt'],
  'materialized view': ['RefreshMatViewStmt'],
  operator: ['AlterOpFamilyStmt', 'AlterOperatorStmt', 'CreateOpClassStmt', 'CreateOpFamilyStmt'],
  owner: ['AlterOwnerStmt'],
  policy: ['AlterPolicyStmt', 'CreatePolicyStmt'],
  publication: ['AlterPublicationStmt', 'CreatePublicationStmt'],
  rule: ['RuleStmt'],
  'security label': ['SecLabelStmt'],
  sequence: ['AlterSeqStmt', 'CreateSeqStmt'],
  statistics: ['AlterStatsStmt', 'CreateStatsStmt'],
  subscription: ['AlterSubscriptionStmt', 'CreateSubscriptionStmt'],
  'text search': ['AlterTSConfigurationStmt', 'AlterTSDictionaryStmt'],
  transform: ['CreateTransformStmt'],
  trigger: ['CreateTrigStmt'],
  type: ['AlterDomainStmt', 'AlterEnumStmt', 'AlterTypeStmt', 'CompositeTypeStmt', 'CreateEnumStmt', 'CreateRangeStmt'],
  view: ['ViewStmt'],
};
const NAME_OF_KIND = new Map(Object.entries(SKIPPED).flatMap(([name, kinds]) => kinds.map((kind) => [kind, name])));

const WITHOUT_EFFECT = new Set(['ConstraintsSetStmt', 'LockStmt', 'VacuumStmt']);

/** @throws LoadError for statements that would change rows in ways that are not allowed, and for unknown statements */
export function planStatement(schema: DumpSchema, node: Node): Plan {
  if ('InsertStmt' in node) {
    const sql = planInsert(schema, node.InsertStmt);
    return sql === undefined ? NOTHING : { kind: 'insert', sql };
  }
  if ('CopyStmt' in node) return { kind: 'copy', sql: planCopy(schema, node.CopyStmt) };
  const sql = planRun(schema, node);
  return sql === '' ? NOTHING : { kind: 'run', sql };
}

function planRun(schema: DumpSchema, node: Node): string {
  if ('CreateStmt' in node) return planCreateTable(schema, node.CreateStmt);
  if ('AlterTableStmt' in node) return planAlterTable(schema, node.AlterTableStmt);
  if ('VariableSetStmt' in node) return planSetting(schema, node.VariableSetStmt);
  if ('SelectStmt' in node) return planSelect(schema, node.SelectStmt);
  if ('IndexStmt' in node && node.IndexStmt.unique) {
    const table = node.IndexStmt.relation && schema.find(node.IndexStmt.relation);
    if (table) table.isUnique = true;
  }
  skipStatement(schema, node);
  return '';
}

function skipStatement(schema: DumpSchema, node: Node): void {
  const [kind = ''] = Object.keys(node);
  if (WITHOUT_EFFECT.has(kind)) return;
  const name = NAME_OF_KIND.get(kind);
  if (name !== undefined) return schema.skip(name);
  if ('CreateDomainStmt' in node) return declareDomain(schema, node.CreateDomainStmt);
  if ('DefineStmt' in node) return schema.skip(definedKind(node.DefineStmt.kind));
  if ('CreateSchemaStmt' in node) return skipSchema(schema, node.CreateSchemaStmt);
  if ('TransactionStmt' in node) return checkTransaction(node.TransactionStmt);
  if ('DropStmt' in node) return checkDrop(schema, node.DropStmt);
  if ('RenameStmt' in node) return checkRename(schema, node.RenameStmt.renameType);
  if ('AlterObjectSchemaStmt' in node) return checkRename(schema, node.AlterObjectSchemaStmt.objectType);
  if ('CreateTableAsStmt' in node && node.CreateTableAsStmt.objtype === 'OBJECT_MATVIEW')
    return schema.skip('materialized view');
  refuse(`${kind} is not allowed in a dump`);
}

function declareDomain(schema: DumpSchema, { domainname, typeName, constraints = [] }: NodeOf<'CreateDomainStmt'>) {
  const { schema: schemaName, name } = namePartsOf(domainname);
  const type = typeName ? columnType(typeName, schema.findDomain) : refuse('a domain has no type');
  const hasDefault = constraints.some((node) => as(node, 'Constraint')?.contype === 'CONSTR_DEFAULT');
  schema.declareDomain(schemaName, name, { ...type, hasDefault: type.hasDefault || hasDefault });
  schema.skip('type');
}

const DEFINED: Record<string, string> = {
  OBJECT_AGGREGATE: 'aggregate',
  OBJECT_COLLATION: 'collation',
  OBJECT_OPERATOR: 'operator',
  OBJECT_TYPE: 'type',
};

const definedKind = (kind = '') => DEFINED[kind] ?? 'text search';

function skipSchema(schema: DumpSchema, { schemaname, schemaElts }: NodeOf<'CreateSchemaStmt'>): void {
  if (schemaElts?.length) refuse('CREATE SCHEMA is allowed with a name only');
  if (schemaname !== 'public') schema.skip('schema');
}

/** A load is one transaction. A rollback in the dump would mean that part of it must not be loaded. */
function checkTransaction({ kind }: NodeOf<'TransactionStmt'>): void {
  const isFrame = kind === 'TRANS_STMT_BEGIN' || kind === 'TRANS_STMT_START' || kind === 'TRANS_STMT_COMMIT';
  if (!isFrame) refuse('only BEGIN and COMMIT are allowed in a dump');
}

/** Allows DROP before creation, because `pg_dump --clean` drops objects before it creates them. */
function checkDrop(schema: DumpSchema, { objects = [], removeType }: NodeOf<'DropStmt'>): void {
  for (const object of objects) {
    const { schema: schemaName, name } = namePartsOf(as(object, 'List')?.items);
    if (removeType === 'OBJECT_TABLE' && schema.knows(schemaName, name))
      refuse('a table of the dump cannot be dropped in it');
    if (removeType === 'OBJECT_SCHEMA' && schema.hasTablesIn(textOf(object)))
      refuse('a schema of the dump cannot be dropped in it');
  }
  schema.skip('drop');
}

const NAMES_ROWS = new Set(['OBJECT_ATTRIBUTE', 'OBJECT_COLUMN', 'OBJECT_DOMAIN', 'OBJECT_SCHEMA', 'OBJECT_TABLE']);

/** Refuses to rename tables and columns, because their names identify the rows. */
function checkRename(schema: DumpSchema, type = ''): void {
  if (NAMES_ROWS.has(type)) refuse('objects that contain rows cannot be renamed in a dump');
  schema.skip('change of a name');
}

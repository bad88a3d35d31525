import type { FuncCall, SelectStmt } from 'libpg-query';
import { escapeLiteral } from 'pg';
import { PUBLIC, type DumpSchema } from './dump-schema.ts';
import { refuse } from './load-error.ts';
import { as, namePartsOf, type Node, type NodeOf } from './syntax-nodes.ts';

/** Settings that determine the meaning of a row's text. */
const APPLIED = new Set(['datestyle', 'intervalstyle', 'timezone']);

/** Settings that do not matter for rows, or that our own settings override. */
const IGNORED = new Set([
  'bytea_output', 'check_function_bodies', 'client_min_messages', 'default_table_access_method', 'default_tablespace',
  'default_with_oids', 'escape_string_warning', 'extra_float_digits', 'idle_in_transaction_session_timeout', 'lock_timeout',
  'maintenance_work_mem', 'row_security', 'session_authorization', 'session_replication_role', 'statement_timeout',
  'synchronize_seqscans', 'synchronous_commit', 'transaction_timeout', 'work_mem', 'xmloption',
]); // prettier-ignore

/** With other values, PostgreSQL would see quotes end elsewhere than we do. */
const FIXED: Record<string, RegExp> = {
  client_encoding: /^(utf-?8|unicode)$/i,
  standard_conforming_strings: /^(on|true|yes|1)$/i,
};

/** Handles `SET name = value` and `RESET name`. Returns newly written SQL; empty if the setting is skipped. */
export function planSetting(schema: DumpSchema, { kind, name = '', args = [] }: NodeOf<'VariableSetStmt'>): string {
  if (kind === 'VAR_RESET_ALL') return [...APPLIED].map((each) => set(each, undefined)).join(' ');
  if (kind === 'VAR_SET_VALUE') return planNamed(schema, name, args.map(constantOf));
  if (kind === 'VAR_SET_DEFAULT' || kind === 'VAR_RESET') return planNamed(schema, name, undefined);
  return refuse(`SET or RESET of ${name || 'everything'} is not allowed in a dump`);
}

/** Allows only the queries that pg_dump writes: they set a sequence, a setting, statistics or a large object. */
export function planSelect(schema: DumpSchema, statement: SelectStmt): string {
  const { targetList = [], fromClause = [], valuesLists, op: _op, limitOption: _limit, ...more } = statement;
  const isOfFunctions = fromClause.some((node) => 'RangeFunction' in node);
  const calls = (isOfFunctions ? fromClause.map(rangeCall) : targetList.map(targetCall)).map(
    (call) => call ?? refuse('queries are not allowed in a dump'),
  );
  if (calls.length === 0 || valuesLists) refuse('queries are not allowed in a dump');
  const isOnce = (isOfFunctions || fromClause.length === 0) && Object.keys(more).length === 0;
  return calls.map((call) => planCall(schema, call, isOnce)).join(' ');
}

function targetCall(node: Node): FuncCall | undefined {
  return as(as(node, 'ResTarget')?.val, 'FuncCall');
}

/** Reads the call from `FROM function(…)`. */
function rangeCall(node: Node): FuncCall | undefined {
  const [list] = as(node, 'RangeFunction')?.functions ?? [];
  return as(as(list, 'List')?.items?.[0], 'FuncCall');
}

const OBJECTS: Record<string, string> = {
  setval: 'sequence',
  pg_restore_relation_stats: 'statistics',
  pg_restore_attribute_stats: 'statistics',
  lo_create: 'large object',
  lo_open: 'large object',
  lowrite: 'large object',
  lo_close: 'large object',
  lo_unlink: 'large object',
};

/** `isOnce`: the call runs exactly once, regardless of the contents of the database. */
function planCall(schema: DumpSchema, { funcname, args = [] }: FuncCall, isOnce: boolean): string {
  const { schema: functionSchema, name } = namePartsOf(funcname);
  if (functionSchema !== undefined && functionSchema !== 'pg_catalog') refuse('queries are not allowed in a dump');
  const object = OBJECTS[name];
  if (object !== undefined) {
    schema.skip(object);
    return '';
  }
  if (!isOnce) refuse('queries are not allowed in a dump');
  if (name !== 'set_config') refuse(`the function ${JSON.stringify(name)} is not allowed in a dump`);
  const [setting = '', value = ''] = args.slice(0, 2).map(constantOf);
  const isPath = setting.toLowerCase() === 'search_path';
  return planNamed(schema, setting.toLowerCase(), isPath ? value.split(',').map(unquoteName) : [value]);
}

const unquoteName = (name: string) => name.trim().replace(/^"(.*)"$/, '$1');

function planNamed(schema: DumpSchema, name: string, values: string[] | undefined): string {
  if (name === 'search_path') {
    schema.useSchema(values?.find((value) => !['', '$user', 'pg_catalog'].includes(value)) ?? PUBLIC);
    return '';
  }
  const fixed = FIXED[name];
  if (fixed && values && !fixed.test(values.join(','))) refuse(`${name} cannot be ${JSON.stringify(values.join(','))}`);
  if (fixed || IGNORED.has(name)) return '';
  return APPLIED.has(name) ? set(name, values) : refuse(`the setting ${JSON.stringify(name)} is not allowed in a dump`);
}

function set(name: string, values: string[] | undefined): string {
  const value = values ? escapeLiteral(values.join(', ')) : 'null';
  return `select pg_catalog.set_config('${name}', ${value}, true);`;
}

function constantOf(node: Node): string {
  const { sval, ival, boolval } = as(node, 'A_Const') ?? refuse('settings are allowed with constants only');
  if (sval) return sval.sval ?? '';
  return String(ival ? (ival.ival ?? 0) : (boolval?.boolval ?? ''));
}

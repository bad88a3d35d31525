import type { FuncCall, Node, SelectStmt, VariableSetStmt } from 'libpg-query';
import { refuse, RUN, SKIP, type Verdict } from './verdict.ts';

/** Settings of one session that a dump needs to be read as it was written. */
const ALLOWED = new Set([
  'bytea_output', 'check_function_bodies', 'client_min_messages', 'datestyle', 'default_table_access_method',
  'default_tablespace', 'escape_string_warning', 'extra_float_digits', 'intervalstyle', 'row_security', 'search_path',
  'synchronize_seqscans', 'timezone', 'xmloption',
]); // prettier-ignore

/** Ours stand, or a newer server's that an older one does not know. */
const IGNORED = new Set([
  'default_with_oids', 'idle_in_transaction_session_timeout', 'lock_timeout', 'maintenance_work_mem', 'session_replication_role',
  'statement_timeout', 'synchronous_commit', 'transaction_timeout', 'work_mem',
]); // prettier-ignore

/** Read otherwise, quotes would end elsewhere for PostgreSQL than for us. */
const FIXED: Record<string, RegExp> = {
  client_encoding: /^(utf-?8|unicode)$/i,
  standard_conforming_strings: /^(on|true|yes|1)$/i,
};

/** `SET name = value` and `RESET name`. */
export function judgeSetting({ kind, name = '', args = [] }: VariableSetStmt): Verdict {
  if (kind !== 'VAR_SET_VALUE' && kind !== 'VAR_SET_DEFAULT' && kind !== 'VAR_RESET')
    return refuse(`SET or RESET of ${name || 'everything'} is not allowed in a dump`);
  return judgeNamed(name, kind === 'VAR_SET_VALUE' ? args.map(constantOf).join(',') : undefined);
}

/** Of all queries, a dump needs only those that set a sequence or a setting. */
export function judgeSelect(select: SelectStmt): Verdict {
  const { targetList = [], op, limitOption, ...rest } = select;
  const isPlain = op === 'SETOP_NONE' && limitOption === 'LIMIT_OPTION_DEFAULT' && Object.keys(rest).length === 0;
  if (!isPlain || targetList.length === 0) return refuse('queries are not allowed in a dump');
  for (const target of targetList) {
    const value = 'ResTarget' in target ? target.ResTarget.val : undefined;
    const verdict =
      value && 'FuncCall' in value ? judgeCall(value.FuncCall) : refuse('queries are not allowed in a dump');
    if (verdict.kind !== 'run') return verdict;
  }
  return RUN;
}

function judgeCall({ funcname = [], args = [] }: FuncCall): Verdict {
  const names = funcname.map((name) => ('String' in name ? name.String.sval : ''));
  const [name, schema] = names.toReversed();
  if (schema !== undefined && schema !== 'pg_catalog') return refuse('queries are not allowed in a dump');
  if (!args.every((arg) => isConstant(arg))) return refuse(`${name} is allowed with constants only`);
  if (name === 'setval') return RUN;
  const [setting, value] = args.map(constantOf);
  if (name === 'set_config') return judgeNamed((setting ?? '').toLowerCase(), value);
  return refuse(`the function ${JSON.stringify(name)} is not allowed in a dump`);
}

function judgeNamed(name: string, value: string | undefined): Verdict {
  const fixed = FIXED[name];
  if (fixed)
    return value === undefined || fixed.test(value) ? RUN : refuse(`${name} cannot be ${JSON.stringify(value)}`);
  if (ALLOWED.has(name)) return RUN;
  return IGNORED.has(name) ? SKIP : refuse(`the setting ${JSON.stringify(name)} is not allowed in a dump`);
}

/** Constants, also with a type: `'tasks_id_seq'::regclass`. */
function isConstant(node: Node): boolean {
  if ('A_Const' in node) return true;
  return 'TypeCast' in node && node.TypeCast.arg !== undefined && 'A_Const' in node.TypeCast.arg;
}

function constantOf(node: Node): string {
  if (!('A_Const' in node)) return '';
  const { sval, ival, boolval } = node.A_Const;
  if (sval) return sval.sval ?? '';
  return String(ival ? (ival.ival ?? 0) : (boolval?.boolval ?? ''));
}

import type { A_Const, FuncCall } from 'libpg-query';
import { columnType, type FindDomain } from './column-types.ts';
import { refuse } from './load-error.ts';
import { as, namePartsOf, type Node } from './syntax-nodes.ts';

const CLOCK_FUNCTIONS: Record<string, string> = {
  SVFOP_CURRENT_DATE: 'current_date',
  SVFOP_CURRENT_TIME: 'current_time',
  SVFOP_CURRENT_TIMESTAMP: 'current_timestamp',
  SVFOP_LOCALTIME: 'localtime',
  SVFOP_LOCALTIMESTAMP: 'localtimestamp',
};

/** Built-in functions that do not depend on the dump. */
const CONSTANT_FUNCTIONS = new Set([
  'clock_timestamp',
  'gen_random_uuid',
  'now',
  'statement_timestamp',
  'transaction_timestamp',
]);

/** Returns newly written SQL with the same meaning; undefined if the expression is not constant. */
export function constantSql(node: Node | undefined, findDomain: FindDomain): string | undefined {
  if (!node) return undefined;
  if ('A_Const' in node) return literal(node.A_Const);
  if ('TypeCast' in node) return cast(node.TypeCast.arg, node.TypeCast.typeName, findDomain);
  if ('A_ArrayExpr' in node) {
    const elements = (node.A_ArrayExpr.elements ?? []).map((element) => constantSql(element, findDomain));
    return elements.includes(undefined) ? undefined : `array[${elements.join(', ')}]`;
  }
  if ('A_Expr' in node) {
    const { kind, name, lexpr, rexpr } = node.A_Expr;
    const sign = namePartsOf(name);
    const value = constantSql(rexpr, findDomain);
    const isSigned = kind === 'AEXPR_OP' && !lexpr && sign.schema === undefined && /^[+-]$/.test(sign.name);
    return isSigned && value !== undefined ? `(${sign.name} ${value})` : undefined;
  }
  if ('SQLValueFunction' in node) return CLOCK_FUNCTIONS[node.SQLValueFunction.op ?? ''];
  if ('FuncCall' in node) return call(node.FuncCall);
  return undefined;
}

function literal({ isnull, ival, fval, sval, boolval, bsval }: A_Const): string | undefined {
  if (isnull) return 'null';
  if (ival) return String(ival.ival ?? 0);
  if (fval) return number(fval.fval ?? '');
  if (sval) return textSql(sval.sval ?? '');
  if (boolval) return String(boolval.boolval ?? false);
  const [, base, digits] = /^([bx])([0-9a-f]*)$/i.exec(bsval?.bsval ?? '') ?? [];
  return base === undefined ? undefined : `${base}'${digits}'`;
}

/** Like pg's escapeLiteral, which works character by character and takes thirty times the memory of the text. */
function textSql(text: string): string {
  const quoted = `'${text.replace(/'/g, "''")}'`;
  return text.includes('\\') ? ` E${quoted.replace(/\\/g, '\\\\')}` : quoted;
}

function number(text: string): string {
  if (!/^[-+.\w]+$/.test(text)) refuse('a number is malformed');
  return checkExponent(text);
}

/** Rejects huge exponents: a number such as 1e131071 would expand from ten bytes to a hundred thousand. */
function checkExponent(text: string): string {
  return /e[+-]?0*[1-9]\d{3}/i.test(text) ? refuse('a number is too large') : text;
}

function cast(
  arg: Node | undefined,
  type: NonNullable<Parameters<typeof columnType>[0]> | undefined,
  findDomain: FindDomain,
) {
  const value = arg && !('TypeCast' in arg) ? constantSql(arg, findDomain) : undefined;
  if (value === undefined || !type) return undefined;
  const text = as(arg, 'A_Const')?.sval?.sval;
  const { sql } = columnType(type, findDomain);
  if (sql.includes('numeric')) checkExponent(text ?? '');
  return `cast(${value} as ${sql})`;
}

function call({ funcname, args = [] }: FuncCall): string | undefined {
  const { schema, name } = namePartsOf(funcname);
  const isOurs = schema === undefined || schema === 'pg_catalog';
  return isOurs && args.length === 0 && CONSTANT_FUNCTIONS.has(name) ? `pg_catalog.${name}()` : undefined;
}

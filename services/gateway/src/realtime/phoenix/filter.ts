import { parseTimestamp } from '@taskmesh/validation';
import { columnNamed, type Column, type Row } from './columns.ts';

/** Says whether a row is within the filter. */
export type RowFilter = (row: Row) => boolean;

/** A filter that cannot be; the message is for the client. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

const MAX_LENGTH = 4_000;
const MAX_IN_VALUES = 100;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

type Value = string | number | boolean;
/** SQL's three values: undefined is neither true nor false, and a negation leaves it so. */
type Test = (value: Value | null) => boolean | undefined;

/**
 * Compiles `column=op.value[,column=op.value…]`, all of which must hold; `not.` negates an operator. Values are compared
 * by the column's type: numbers as numbers, times as instants. A NULL is within nothing but `is.null` and `isdistinct`.
 * @throws FilterError
 */
export function compileFilter(text: string): RowFilter {
  if (text.length > MAX_LENGTH) throw new FilterError('the filter is too long');
  if (text.trim() === '') return () => true;
  const terms = splitTerms(text).map(compileTerm);
  return (row) => terms.every((term) => term(row));
}

function compileTerm(term: string): RowFilter {
  const match = /^\s*([a-z_]+)=((?:not\.)?)([a-z]+)\.([\s\S]*)$/.exec(term);
  const [, name = '', negation = '', operator = '', operand = ''] = match ?? [];
  if (!match) throw new FilterError(`malformed filter: ${JSON.stringify(term)}`);
  const column = columnNamed(name);
  if (!column) throw new FilterError(`unknown column: ${name}`);
  const test = compileTest(column, operator, operand);
  const wanted = negation === '';
  return (row) => test(comparable(column, row[column.name])) === wanted;
}

function compileTest(column: Column, operator: string, operand: string): Test {
  switch (operator) {
    case 'eq':
      return compare(column, operand, (order) => order === 0);
    case 'neq':
      return compare(column, operand, (order) => order !== 0);
    case 'lt':
      return compare(column, operand, (order) => order < 0);
    case 'lte':
      return compare(column, operand, (order) => order <= 0);
    case 'gt':
      return compare(column, operand, (order) => order > 0);
    case 'gte':
      return compare(column, operand, (order) => order >= 0);
    case 'isdistinct':
      return compileDistinct(column, operand);
    case 'in':
      return compileIn(column, operand);
    case 'is':
      return compileIs(column, operand);
    case 'like':
    case 'ilike':
      return compileLike(column, operand, operator === 'ilike');
    default:
      // `match` and `imatch` would run a pattern of the client's: one that never ends holds everybody up.
      throw new FilterError(`unknown operator: ${operator}`);
  }
}

function compare(column: Column, operand: string, holds: (order: number) => boolean): Test {
  const wanted = readValue(column, unquote(operand));
  return (value) => (value === null ? undefined : holds(orderOf(value, wanted)));
}

function compileDistinct(column: Column, operand: string): Test {
  if (operand === 'null') return (value) => value !== null;
  const wanted = readValue(column, unquote(operand));
  return (value) => value === null || orderOf(value, wanted) !== 0;
}

function compileIn(column: Column, operand: string): Test {
  const match = /^\(([\s\S]*)\)$/.exec(operand);
  if (!match) throw new FilterError('in needs a list: in.(a,b)');
  const values = splitTerms(match[1] ?? '').map((value) => readValue(column, unquote(value)));
  if (values.length > MAX_IN_VALUES) throw new FilterError(`in takes at most ${MAX_IN_VALUES} values`);
  return (value) => (value === null ? undefined : values.some((wanted) => orderOf(value, wanted) === 0));
}

function compileIs(column: Column, operand: string): Test {
  if (operand === 'null') return (value) => value === null;
  if (column.type !== 'bool' || !['true', 'false', 'unknown'].includes(operand))
    throw new FilterError(`${column.name} cannot be compared with is.${operand}`);
  if (operand === 'unknown') return (value) => value === null;
  return (value) => value === (operand === 'true');
}

function compileLike(column: Column, operand: string, ignoreCase: boolean): Test {
  if (column.type !== 'text') throw new FilterError(`${column.name} is no text`);
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const pattern = likeParts(fold(unquote(operand)));
  return (value) => (value === null ? undefined : matchesLike(fold(String(value)), pattern));
}

const ANY = Symbol('any text');
const ONE = Symbol('any character');
type LikePart = string | typeof ANY | typeof ONE;

function likeParts(pattern: string): LikePart[] {
  const parts: LikePart[] = [];
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? '';
    if (character === '%') parts.push(ANY);
    else if (character === '_') parts.push(ONE);
    else if (character === '\\' && index + 1 < characters.length) parts.push(characters[++index] ?? '');
    else parts.push(character);
  }
  return parts;
}

/** Goes back to the last `%` only: never more than length times length steps. */
function matchesLike(text: string, pattern: LikePart[]): boolean {
  const characters = [...text];
  let at = 0;
  let part = 0;
  let anyAt = -1;
  let anyPart = -1;
  while (at < characters.length) {
    if (part < pattern.length && pattern[part] !== ANY && (pattern[part] === ONE || pattern[part] === characters[at])) {
      at++;
      part++;
    } else if (pattern[part] === ANY) {
      anyAt = at;
      anyPart = part++;
    } else if (anyPart >= 0) {
      at = ++anyAt;
      part = anyPart + 1;
    } else return false;
  }
  return pattern.slice(part).every((rest) => rest === ANY);
}

function comparable({ type }: Column, value: Row[Column['name']]): Value | null {
  return type === 'timestamptz' && typeof value === 'string' ? Date.parse(value) : value;
}

function readValue(column: Column, text: string): Value {
  const value = parseValue(column, text);
  if (value === undefined) throw new FilterError(`${JSON.stringify(text)} is no value for ${column.name}`);
  return value;
}

function parseValue({ type }: Column, text: string): Value | undefined {
  switch (type) {
    case 'text':
      return text;
    case 'uuid':
      return UUID.test(text) ? text.toLowerCase() : undefined;
    case 'int4':
      return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
    case 'bool':
      return { true: true, t: true, false: false, f: false }[text];
    case 'timestamptz':
      return instant(text);
  }
}

/** PostgreSQL also takes a blank for the T, a date alone, and times without a zone, which the session reads as UTC. */
function instant(text: string): number | undefined {
  const [, date, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?))?(Z|z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const utc = parseTimestamp(`${date}T${time}${offset}`);
  return utc === undefined ? undefined : Date.parse(utc);
}

function orderOf(left: Value, right: Value): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Splits at commas that are neither quoted nor in parentheses. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let current = '';
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (isQuoted) {
      current += character;
      if (character === '\\') current += text[++index] ?? '';
      else if (character === '"') isQuoted = false;
      continue;
    }
    if (character === ',' && depth === 0) {
      terms.push(current);
      current = '';
      continue;
    }
    // A quote counts only where a value begins.
    if (character === '"' && /(^|[.(,])$/.test(current)) isQuoted = true;
    if (character === '(') depth++;
    if (character === ')') depth--;
    current += character;
  }
  if (isQuoted) throw new FilterError('a quote is not closed');
  return [...terms, current];
}

function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  if (value.length < 2 || !value.endsWith('"')) throw new FilterError('a quote is not closed');
  return value.slice(1, -1).replaceAll(/\\([\s\S])/g, '$1');
}

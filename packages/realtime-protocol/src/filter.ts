import { compileLike } from './like.ts';
import { columnNamed, JoinRefused, naming, type Column, type Row, type Table } from './table.ts';

/** Selects the rows that a binding receives. */
export interface Filter {
  /** As the client sent it. Filters with equal text are interchangeable. */
  text: string;
  /** The cost of testing one row: 1 per condition, more for a pattern and for a long list. */
  cost: number;
  /** The most memory that the filter can take. */
  bytes: number;
  test(row: Row): boolean;
}

const MAX_LENGTH = 4_000;
const MAX_CONDITIONS = 20;
const MAX_IN_VALUES = 100;
const MAX_PATTERN_LENGTH = 100;
/** Measured: to follow a pattern through a text of 2,000 characters takes about 0.1 ms, a hundred times as long as to compare a time. */
const PATTERN_COST = 40;
const IN_VALUES_PER_COST = 20;
/** Measured, per filter, per condition, and per list value or pattern character. Text takes two more bytes per character. */
const FILTER_BYTES = 512;
const CONDITION_BYTES = 256;
const VALUE_BYTES = 80;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const BOOLEANS = new Map([
  ['true', true],
  ['t', true],
  ['false', false],
  ['f', false],
]);

type Value = string | number | boolean;
/** SQL's three-valued logic: undefined means unknown, and negation leaves it unchanged. */
type Test = (value: Value | null) => boolean | undefined;

interface Condition {
  column: Column;
  /** False for a negated condition. */
  wanted: boolean;
  test: Test;
  cost: number;
  /** The number of list values or pattern characters. */
  values: number;
}

/** Returns the filter for a text; undefined if the text has no conditions. @throws JoinRefused */
export type FilterOf = (text: string) => Filter | undefined;

/** Shares equal filters while they are in use, because a compiled filter takes many times the memory of its text. */
export function createFilters(table: Table): FilterOf {
  const known = new Map<string, WeakRef<Filter>>();
  const unused = new FinalizationRegistry<string>((text) => {
    if (!known.get(text)?.deref()) known.delete(text);
  });
  return (text) => {
    const shared = known.get(text)?.deref();
    if (shared) return shared;
    const filter = compileFilter(text, table);
    if (!filter) return undefined;
    known.set(text, new WeakRef(filter));
    unused.register(filter, text);
    return filter;
  };
}

/**
 * Compiles `column=op.value[,column=op.value…]`, all of which must hold; `not.` negates an operator. Values are
 * compared by the column's type: numbers as numbers, times as instants. For NULL, only `is`, `isdistinct` and an empty
 * list yield true or false. Returns undefined if there are no conditions. Parses text like Supabase's server
 * (`subscriptions.ex`): spaces around conditions are ignored, and a list has the syntax of a PostgreSQL array.
 * @throws JoinRefused
 */
export function compileFilter(text: string, table: Table): Filter | undefined {
  if (text.length > MAX_LENGTH) throw new JoinRefused(`a filter has at most ${MAX_LENGTH} characters`);
  if (text.trim() === '') return undefined;
  const terms = splitTerms(text);
  if (terms.length > MAX_CONDITIONS) throw new JoinRefused(`a filter has at most ${MAX_CONDITIONS} conditions`);
  const conditions = terms.map((term) => compileTerm(term, table));
  const sum = (of: (condition: Condition) => number) => conditions.reduce((total, each) => total + of(each), 0);
  return {
    text,
    cost: sum(({ cost }) => cost),
    bytes: FILTER_BYTES + 2 * text.length + sum(({ values }) => CONDITION_BYTES + VALUE_BYTES * values),
    test: (row) =>
      conditions.every(({ column, wanted, test }) => test(comparable(column, row[column.name] ?? null)) === wanted),
  };
}

function compileTerm(term: string, table: Table): Condition {
  const match = /^([^=]+)=((?:not\.)?)([a-z]+)\.([\s\S]*)$/.exec(term.trim());
  const [, name = '', negation = '', operator = '', operand = ''] = match ?? [];
  if (!match) throw new JoinRefused('malformed filter: a condition is column=operator.value');
  const column = columnNamed(table, name);
  if (!column) throw new JoinRefused(naming('unknown column', name));
  const wanted = negation === '';
  if (operator === 'in') {
    const list = readList(operand);
    const cost = Math.max(1, Math.ceil(list.length / IN_VALUES_PER_COST));
    return { column, wanted, test: compileIn(column, list), cost, values: list.length };
  }
  const test = compileTest(column, operator, operand);
  if (!operator.endsWith('like')) return { column, wanted, test, cost: 1, values: 0 };
  return { column, wanted, test, cost: PATTERN_COST, values: operand.length };
}

const ORDERS = new Map<string, (order: number) => boolean>([
  ['eq', (order) => order === 0],
  ['neq', (order) => order !== 0],
  ['lt', (order) => order < 0],
  ['lte', (order) => order <= 0],
  ['gt', (order) => order > 0],
  ['gte', (order) => order >= 0],
]);

function compileTest(column: Column, operator: string, operand: string): Test {
  const holds = ORDERS.get(operator);
  if (holds) return compare(column, operand, holds);
  switch (operator) {
    case 'isdistinct':
      return compileDistinct(column, operand);
    case 'is':
      return compileIs(column, operand);
    case 'like':
    case 'ilike':
      return compileLikeTest(column, operand, operator === 'ilike');
    default:
      // Excludes `match` and `imatch`: a client's regular expression could block the process forever.
      throw new JoinRefused(naming('unknown operator', operator));
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

function compileIn(column: Column, elements: (string | null)[]): Test {
  if (elements.length > MAX_IN_VALUES) throw new JoinRefused(`in takes at most ${MAX_IN_VALUES} values`);
  if (elements.length === 0) return () => false;
  const values = elements.map((text) => (text === null ? null : readValue(column, text))); // a Set would take four times the memory
  const absent = values.includes(null) ? undefined : false;
  return (value) => (value === null ? undefined : values.includes(value) || absent);
}

function readList(operand: string): (string | null)[] {
  const match = /^\(([\s\S]*)\)$/.exec(operand);
  if (!match) throw new JoinRefused('in needs a list: in.(a,b)');
  return readArray(match[1] ?? '');
}

const QUOTED_ELEMENT = /\s*"((?:[^"\\]|\\[\s\S])*)"\s*(,|$)/y;
const PLAIN_ELEMENT = /((?:[^",\\]|\\[\s\S])*)(,|$)/y;

/** Parses the elements of a PostgreSQL array without its braces. Ignores spaces around elements, unless they are quoted. */
function readArray(text: string): (string | null)[] {
  const elements: (string | null)[] = [];
  if (text.trim() === '') return elements;
  for (let at = 0, hasMore = true; hasMore;) {
    QUOTED_ELEMENT.lastIndex = PLAIN_ELEMENT.lastIndex = at;
    const quoted = QUOTED_ELEMENT.exec(text);
    const [whole = '', content = '', comma] = quoted ?? PLAIN_ELEMENT.exec(text) ?? [];
    const plain = content.trim();
    if (whole === '' || (!quoted && plain === '')) throw new JoinRefused('malformed list: in.(a,"b, c")');
    elements.push(!quoted && /^null$/i.test(plain) ? null : unescape(quoted ? content : plain));
    at += whole.length;
    hasMore = comma === ',';
  }
  return elements;
}

function compileIs(column: Column, text: string): Test {
  const operand = text.toLowerCase();
  if (operand === 'null') return (value) => value === null;
  if (column.type !== 'bool' || !['true', 'false', 'unknown'].includes(operand))
    throw new JoinRefused(`${column.name} cannot be compared so: is takes null, and for a bool true, false, unknown`);
  if (operand === 'unknown') return (value) => value === null;
  return (value) => value === (operand === 'true');
}

function compileLikeTest(column: Column, operand: string, ignoreCase: boolean): Test {
  if (column.type !== 'text') throw new JoinRefused(`${column.name} is no text`);
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const pattern = fold(unquote(operand));
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new JoinRefused(`a pattern has at most ${MAX_PATTERN_LENGTH} characters`);
  const matches = compileLike(pattern);
  return (value) => (value === null ? undefined : matches(fold(String(value))));
}

function comparable({ type }: Column, value: Row[string]): Value | null {
  return type === 'timestamptz' && typeof value === 'string' ? Date.parse(value) : value;
}

function readValue(column: Column, text: string): Value {
  const value = parseValue(column, text);
  if (value === undefined) throw new JoinRefused(`that is no value for ${column.name} (${column.type})`);
  return value;
}

function parseValue({ type }: Column, value: string): Value | undefined {
  const text = value.trim();
  switch (type) {
    case 'text':
      return value;
    case 'uuid':
      return UUID.test(text) ? text.toLowerCase() : undefined;
    case 'int4':
      return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
    case 'bool':
      return BOOLEANS.get(text.toLowerCase()); // Python writes True
    case 'timestamptz':
      return instant(text);
  }
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(?:Z|z|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** Like PostgreSQL, accepts a space instead of the T, a date alone, and times without seconds or zone (which is then UTC). */
function instant(text: string): number | undefined {
  const [match, ...groups] = TIME.exec(text) ?? [];
  if (match === undefined) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = groups
    .slice(0, 6)
    .map((digits) => Number(digits ?? 0));
  const [fraction = '', sign = '+', zoneHours = '0', zoneMinutes = '0'] = groups.slice(6);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC would read the years 0 to 99 as 1900 to 1999
  const isDate = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59)
    return undefined;
  date.setUTCHours(hour, minute, second, Number(fraction.padEnd(3, '0').slice(0, 3)));
  const offsetMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return date.getTime() - (sign === '-' ? -offsetMs : offsetMs);
}

function orderOf(left: Value, right: Value): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Splits at commas that are neither quoted nor in parentheses. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isQuoted) {
      if (character === '\\') index++;
      else if (character === '"') isQuoted = false;
    } else if (character === ',' && depth === 0) {
      terms.push(text.slice(start, index));
      start = index + 1;
    } else if (character === '"') {
      // A quote is special only at the beginning of a value; in a list, spaces may precede it.
      const before = text.slice(start, index);
      isQuoted = '.(,'.includes((depth > 0 ? before.trimEnd() : before).at(-1) ?? '.');
    } else if (character === '(') depth++;
    else if (character === ')' && depth > 0) depth--;
  }
  if (isQuoted) throw new JoinRefused('a quote is not closed');
  const last = text.slice(start);
  // Otherwise the following conditions would silently become part of a value.
  if (depth > 0 && last.includes(',')) throw new JoinRefused('a parenthesis is not closed');
  return [...terms, last];
}

function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  if (value.length < 2 || !value.endsWith('"')) throw new JoinRefused('a quote is not closed');
  return unescape(value.slice(1, -1));
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, '$1');
}

import type { Statement } from '@taskmesh/store';
import type { TaskOrder } from './task-order.ts';
import { TASK_COLUMNS, taskColumnsOf } from './task-row.ts';

/** Numbers the parameters of a statement that is put together, in the order in which its text first needs them. */
class StatementParameters<Name extends string> {
  readonly names: Name[] = [];

  /** @returns `$1`, `$2` … */
  readonly of = (name: Name): string => {
    if (!this.names.includes(name)) this.names.push(name);
    return `$${this.names.indexOf(name) + 1}`;
  };
}

export interface ListShape {
  order: TaskOrder;
  /** Without a filter, the index alone gives the total. */
  isFiltered: boolean;
  /** Continues behind a place in the order. */
  isBehind: boolean;
  /** Also returns the total and the head of the owner's feed. */
  withFeed: boolean;
  /** Also returns whether a match comes before the place or at it; without a place, whether there is any match. */
  withPrevious: boolean;
}

export type ListParameter =
  'owner' | 'completed' | 'priority' | 'category' | 'limit' | 'offset' | 'withTotal' | `place ${number}`;

export interface ListStatement extends Statement {
  /** What $1, $2 … are. */
  parameters: ListParameter[];
}

/** SQL of a parameter. */
type Given = (name: ListParameter) => string;

const statements = new Map<string, ListStatement>();

/**
 * The page and everything else requested, in one statement and therefore one snapshot. If more than the page is
 * requested, there is always a row; without a task its id is null.
 *
 * All of it reads the owner's rows by one index, which is in the order of a list by age; other orders sort them.
 */
export function listStatement(shape: ListShape): ListStatement {
  const { order, isFiltered, isBehind, withFeed, withPrevious } = shape;
  const flags = [isFiltered, isBehind, withFeed, withPrevious].map(Number).join('');
  const name = `task-list-${order.field}-${order.direction}-${flags}`.toLowerCase();
  const known = statements.get(name);
  if (known) return known;
  const parameters = new StatementParameters<ListParameter>();
  const statement = { name, text: textOf(shape, parameters.of), parameters: parameters.names };
  statements.set(name, statement);
  return statement;
}

function textOf(shape: ListShape, given: Given): string {
  const { order, isBehind, withFeed, withPrevious } = shape;
  const inOrder = `order by ${keysOf(order)
    .map(({ sql }) => `${sql} ${order.direction}`)
    .join(', ')}`;
  const matching = matchingOf(shape, given);
  const behind = isBehind ? ` and ${compared(order, given, isAscending(order) ? '>' : '<')}` : '';
  const page = `select ${TASK_COLUMNS} from tasks where ${matching}${behind}
    ${inOrder} limit ${given('limit')}::bigint offset ${given('offset')}::bigint`;
  if (!withFeed && !withPrevious) return page;
  const upTo = isBehind ? ` and ${compared(order, given, isAscending(order) ? '<=' : '>=')}` : '';
  const besides = [
    `case when ${given('withTotal')}::boolean then (select count(*)::int from tasks where ${matching}) end as total`,
    '(select epoch from feed_state) as epoch',
    `coalesce((select sequence from feeds where owner_id = ${given('owner')}), 0)::int as head`,
    ...(withPrevious ? [`${anyOf(`${matching}${upTo}`)} as has_previous`] : []),
  ];
  return `with page as (${page})
    select ${taskColumnsOf('page')}, besides.*
    from (select ${besides.join(', ')}) besides left join page on true ${inOrder}`;
}

/** In the order of the index, so that the planner does not look for a match among others' tasks. */
const anyOf = (condition: string) =>
  `coalesce((select true from tasks where ${condition} order by created_at, id limit 1), false)`;

function matchingOf({ isFiltered }: ListShape, given: Given): string {
  const isAnyOr = (name: 'completed' | 'priority' | 'category', type: string) =>
    ` and (${given(name)}::${type} is null or ${name} = ${given(name)})`;
  const filter = isFiltered
    ? isAnyOr('completed', 'boolean') + isAnyOr('priority', 'text') + isAnyOr('category', 'text')
    : '';
  return `user_id = ${given('owner')}${filter}`;
}

interface Key {
  sql: string;
  /** SQL of a parameter's value, to compare with. */
  valueOf: (parameter: string) => string;
}

const time = (sql: string): Key => ({ sql, valueOf: (parameter) => `${parameter}::timestamptz` });

/** Age and then id break ties, so that every task has a unique place. */
const AGE: Key[] = [time('created_at'), { sql: 'id', valueOf: (parameter) => `${parameter}::uuid` }];

const RANK = `(case priority when 'low' then 0 when 'medium' then 1 else 2 end)`;

/** What a list is sorted by. Matches the values of `placeOf`. */
function keysOf(order: TaskOrder): Key[] {
  switch (order.field) {
    case 'CREATED_AT':
      return AGE;
    case 'UPDATED_AT':
      return [time('updated_at'), ...AGE];
    case 'DUE_DATE': {
      // Tasks without a due date come last in either direction.
      const never = isAscending(order) ? `'infinity'` : `'-infinity'`;
      const valueOf = (parameter: string) => `coalesce(${parameter}::timestamptz, ${never})`;
      return [{ sql: `coalesce(due_date, ${never})`, valueOf }, ...AGE];
    }
    case 'PRIORITY':
      return [{ sql: RANK, valueOf: (parameter) => `${parameter}::int` }, ...AGE];
  }
}

const isAscending = ({ direction }: TaskOrder) => direction === 'ASC';

/** Compares a task with the place. */
function compared(order: TaskOrder, given: Given, operator: string): string {
  const keys = keysOf(order);
  const values = keys.map(({ valueOf }, index) => valueOf(given(`place ${index}`)));
  return `(${keys.map(({ sql }) => sql).join(', ')}) ${operator} (${values.join(', ')})`;
}

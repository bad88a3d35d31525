import type { Statement } from '@taskmesh/database';
import type { TaskOrder } from './task-order.ts';
import { TASK_COLUMNS } from './task-row.ts';

export interface ListShape {
  order: TaskOrder;
  /** Continues after a place, whose values are $7, $8 … */
  isBehindPlace: boolean;
  withTotal: boolean;
  /** Also returns the head of the owner's feed. */
  withHead: boolean;
  /** Also tells whether a match comes before the place; without a place, whether there is any match. */
  withPrevious: boolean;
}

/** $1: owner, $2: completed, $3: category, $4: priority (null: any) */
const MATCHES = `user_id = $1
  and ($2::boolean is null or completed = $2)
  and ($3::text is null or category = $3)
  and ($4::text is null or priority = $4)`;

const PLACE = 7;

const statements = new Map<string, Statement>();

/**
 * The page and everything else requested, in one statement and therefore one snapshot. $1 to $4: see MATCHES, $5:
 * limit, $6: offset. If more than the page is requested, there is always a row; without a task its id is null.
 */
export function listStatement(shape: ListShape): Statement {
  const { order, isBehindPlace, withTotal, withHead, withPrevious } = shape;
  const flags = [isBehindPlace, withTotal, withHead, withPrevious].map(Number).join('');
  const name = `task-list-${order.field}-${order.direction}-${flags}`.toLowerCase();
  const known = statements.get(name);
  if (known) return known;
  const statement = { name, text: textOf(shape) };
  statements.set(name, statement);
  return statement;
}

function textOf(shape: ListShape): string {
  const { order, isBehindPlace, withTotal, withHead, withPrevious } = shape;
  const keys = keysOf(order);
  const orderBy = keys.map(({ key }) => `${key} ${order.direction}`).join(', ');
  const isBehind = isBehindPlace ? behindPlace(order, keys) : 'true';
  const page = `select ${TASK_COLUMNS} from tasks where ${MATCHES} and ${isBehind} order by ${orderBy} limit $5 offset $6`;

  const isBefore = isBehindPlace ? `not (${isBehind})` : 'true';
  const besides = [
    ...(withTotal ? [`(select count(*)::int from tasks where ${MATCHES}) as total`] : []),
    ...(withHead
      ? [
          '(select epoch from feed_state) as epoch',
          'coalesce((select sequence from feeds where owner_id = $1), 0)::int as head',
        ]
      : []),
    ...(withPrevious ? [`exists(select 1 from tasks where ${MATCHES} and ${isBefore}) as has_previous`] : []),
  ];
  if (besides.length === 0) return page;
  return `with page as (${page})
    select page.*, besides.* from (select ${besides.join(', ')}) besides left join page on true order by ${orderBy}`;
}

interface Key {
  key: string;
  given: (parameter: string) => string;
}

const CREATED_AT: Key = { key: 'created_at', given: (parameter) => `${parameter}::timestamptz` };
const ID: Key = { key: 'id', given: (parameter) => `${parameter}::uuid` };

/** Age and then id break ties, so that every task has a unique place. Matches the values of `placeOf`. */
function keysOf(order: TaskOrder): Key[] {
  switch (order.field) {
    case 'CREATED_AT':
      return [CREATED_AT, ID];
    case 'UPDATED_AT':
      return [{ ...CREATED_AT, key: 'updated_at' }, CREATED_AT, ID];
    case 'DUE_DATE': {
      // Tasks without a due date come last in either direction.
      const never = order.direction === 'ASC' ? `'infinity'` : `'-infinity'`;
      const given = (parameter: string) => `coalesce(${parameter}::timestamptz, ${never})`;
      return [{ key: `coalesce(due_date, ${never})`, given }, CREATED_AT, ID];
    }
    case 'PRIORITY': {
      const key = `(case priority when 'low' then 0 when 'medium' then 1 else 2 end)`;
      return [{ key, given: (parameter) => `${parameter}::int` }, CREATED_AT, ID];
    }
  }
}

function behindPlace(order: TaskOrder, keys: Key[]): string {
  const place = keys.map(({ given }, index) => given(`$${PLACE + index}`));
  return `(${keys.map(({ key }) => key).join(', ')}) ${order.direction === 'ASC' ? '>' : '<'} (${place.join(', ')})`;
}

import type { Statement } from '@taskmesh/store';
import type { Priority } from '@taskmesh/contracts';
import { keysOf, type OrderPosition, type TaskOrder } from './task-order.ts';
import { TASK_COLUMNS, taskColumnsOf } from './task-row.ts';

export interface ListRequest {
  ownerId: string;
  filter: { completed?: boolean | null; priority?: Priority | null; category?: string | null };
  order: TaskOrder;
  limit: number;
  offset: number;
  /** Starts after this position in the order. */
  after: OrderPosition | undefined;
  withTotal: boolean;
  /** Also returns the head of the owner's feed. */
  withHead: boolean;
  /** Also returns whether there is a match before or at `after`; without `after`, whether there is any match. */
  withPrevious: boolean;
}

/** An offset up to this reads few rows, compared with all. */
const MAX_SKIPPED = 1_000;

/**
 * Selects the page and everything else requested, in one statement and therefore one snapshot. If more than the page is
 * requested, there is always a row; for an empty page its id is null.
 *
 * All parts read the owner's rows through one index, which has the order of a list by age; other orders sort the rows.
 * `readsAll`: the statement may read all of the owner's tasks.
 */
export function listStatement(request: ListRequest): { statement: Statement; values: unknown[]; readsAll: boolean } {
  const { ownerId, filter, order, limit, offset, after, withTotal, withHead, withPrevious } = request;
  const values: unknown[] = [];
  /** Adds a parameter with this value and returns its SQL. */
  const bind = (value: unknown): string => `$${values.push(value)}`;

  const isFiltered = Object.values(filter).some((value) => value != null);
  const readsAll = isFiltered || order.field !== 'CREATED_AT' || offset > MAX_SKIPPED;
  const withFeed = withTotal || withHead;
  const owner = bind(ownerId);
  const isAnyOr = (name: keyof ListRequest['filter'], type: string) => {
    const wanted = bind(filter[name] ?? null);
    return ` and (${wanted}::${type} is null or ${name} = ${wanted})`;
  };
  // Without a filter, the total is counted from the index alone.
  const filters = isFiltered
    ? isAnyOr('completed', 'boolean') + isAnyOr('priority', 'text') + isAnyOr('category', 'text')
    : '';
  const matching = `user_id = ${owner}${filters}`;

  const keys = keysOf(order);
  const isAscending = order.direction === 'ASC';
  const inOrder = `order by ${keys.map(({ sql }) => `${sql} ${order.direction}`).join(', ')}`;
  const position = after && keys.map((key, index) => key.parameterSql(bind(after[index]))).join(', ');
  /** The condition that compares a task with the position. */
  const compared = (operator: string) =>
    position === undefined ? '' : ` and (${keys.map(({ sql }) => sql).join(', ')}) ${operator} (${position})`;

  const page = `select ${TASK_COLUMNS} from tasks where ${matching}${compared(isAscending ? '>' : '<')}
    ${inOrder} limit ${bind(limit)}::bigint offset ${bind(offset)}::bigint`;
  const flags = [isFiltered, position !== undefined, withFeed, withPrevious].map(Number).join('');
  const name = `task-list-${order.field}-${order.direction}-${flags}`.toLowerCase();
  if (!withFeed && !withPrevious) return { statement: { name, text: page }, values, readsAll };

  const besides = [
    `case when ${bind(withTotal)}::boolean then (select count(*)::int from tasks where ${matching}) end as total`,
    '(select epoch from feed_state) as epoch',
    `coalesce((select sequence from feeds where owner_id = ${owner}), 0)::int as head`,
    ...(withPrevious ? [`${anyOf(`${matching}${compared(isAscending ? '<=' : '>=')}`)} as has_previous`] : []),
  ];
  const text = `with page as (${page})
    select ${taskColumnsOf('page')}, besides.*
    from (select ${besides.join(', ')}) besides left join page on true ${inOrder}`;
  return { statement: { name, text }, values, readsAll };
}

/** Uses the order of the index, so that the planner does not search for a match among other owners' tasks. */
const anyOf = (condition: string) =>
  `coalesce((select true from tasks where ${condition} order by created_at, id limit 1), false)`;

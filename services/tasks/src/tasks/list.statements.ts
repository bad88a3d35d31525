import type { Statement } from '@taskmesh/database';
import { IS_COUNTED, IS_KEPT, SUM_OF_ALL, sumOfStates } from './count.statements.ts';
import { isKeyedBefore, keyedIds } from './keyed-list.ts';
import { keysOf } from './list-runs.ts';
import { compared, orderBy, type Given, type ListParameter, type ListShape } from './list-shape.ts';
import { StatementParameters } from './statement-parameters.ts';
import { TASK_COLUMNS, taskColumnsOf } from './task-row.ts';
import { STATE, TASK_STATES } from './task-states.ts';

export interface ListStatement extends Statement {
  /** What $1, $2 … are. */
  parameters: ListParameter[];
}

const statements = new Map<string, ListStatement>();

/**
 * The page and everything else requested, in one statement and therefore one snapshot. If more than the page is
 * requested, there is always a row; without a task its id is null.
 */
export function listStatement(shape: ListShape): ListStatement {
  const { order, filteredBy, placeIn = 'start', withFeed, withPrevious } = shape;
  const flags = [withFeed, withPrevious].map(Number).join('');
  const name = `task-list-${order.field}-${order.direction}-${filteredBy}-${placeIn}-${flags}`.toLowerCase();
  const known = statements.get(name);
  if (known) return known;
  const parameters = new StatementParameters<ListParameter>();
  const statement = { name, text: textOf(shape, parameters.of), parameters: parameters.names };
  statements.set(name, statement);
  return statement;
}

function textOf(shape: ListShape, given: Given): string {
  const { order, filteredBy, withFeed, withPrevious } = shape;
  const inOrder = orderBy(keysOf(order), order);
  const page = `${matchesOf(shape, given)} ${inOrder} limit ${given('limit')}::bigint offset ${given('offset')}::bigint`;
  const ctes = filteredBy === 'nothing' ? [] : [keyed(given)];
  if (!withFeed && !withPrevious) return `${withAll(ctes)} ${page}`;
  const besides = [
    `${IS_KEPT} as is_kept`,
    `case when ${given('withTotal')}::boolean then ${totalOf(shape, given)} end as total`,
    '(select epoch from feed_state) as epoch',
    'coalesce(f.sequence, 0)::int as head',
    ...(withPrevious ? [`${previousOf(shape, given)} as has_previous`] : []),
  ];
  return `${withAll([...ctes, `page as (${page})`])}
    select ${taskColumnsOf('page')}, besides.*
    from (select ${besides.join(', ')} from (select 1) as one left join feeds f on f.owner_id = ${given('owner')}) besides
    left join page on true ${inOrder}`;
}

const withAll = (ctes: string[]) => (ctes.length > 0 ? `with ${ctes.join(', ')}` : '');

/** Parts of the statement whose condition is known without reading their rows do not begin when it is false. */
const keyed = (given: Given) => `
  keyed as materialized (
    select coalesce(f.keys > 0 and ${IS_COUNTED}, false) as is_so, ${IS_KEPT} as is_kept
    from (select 1) as one left join feeds f on f.owner_id = ${given('owner')}
  )`;
const IS_KEYED = '(select is_so from keyed)';

/** All that match, or those among them that the page is made of. */
function matchesOf(shape: ListShape, given: Given): string {
  const { order, filteredBy, placeIn } = shape;
  const behind = placeIn === undefined ? [] : [compared(keysOf(order), order, given)];
  if (filteredBy === 'nothing') return `select ${TASK_COLUMNS} from tasks where ${matching(shape, given, behind)}`;
  return `select ${TASK_COLUMNS}, (select is_kept from keyed) as is_kept from (
      select ${taskColumnsOf('t')} from (${keyedIds(shape, given, IS_KEYED)}) page join tasks t on t.id = page.id and t.user_id = ${given('owner')}
      union all
      select ${TASK_COLUMNS} from tasks where ${matching(shape, given, [...behind, `not ${IS_KEYED}`])}
    ) found`;
}

function matching({ filteredBy }: ListShape, given: Given, more: string[] = []): string {
  return [
    `user_id = ${given('owner')}`,
    ...(filteredBy === 'nothing' ? [] : [`${STATE} = any(${given('states')}::int[])`]),
    ...(filteredBy === 'category' ? [`category = ${given('category')}::text`] : []),
    ...more,
  ].join(' and ');
}

/** Within a category tasks are counted one by one. */
function totalOf(shape: ListShape, given: Given): string {
  const { filteredBy } = shape;
  const counted = `(select count(*)::int from tasks where ${matching(shape, given)})`;
  if (filteredBy === 'nothing') return `case when ${IS_COUNTED} then ${SUM_OF_ALL} else ${counted} end`;
  const states = `${given('states')}::int[]`;
  if (filteredBy === 'category') {
    const ofKeys = `select count(*)::int from task_keys where user_id = ${given('owner')} and category = ${given('category')}::text`;
    return `case when not ${IS_KEYED} then ${counted}
      when cardinality(${states}) = ${TASK_STATES.length} then (${ofKeys}) else (${ofKeys} and state = any(${states})) end`;
  }
  return `case when ${IS_COUNTED} then ${sumOfStates(states)} else ${counted} end`;
}

function previousOf(shape: ListShape, given: Given): string {
  const { order, placeIn, filteredBy } = shape;
  const keys = keysOf(order);
  const upTo = placeIn === undefined ? [] : [compared(keys, order, given, { isUpTo: true })];
  // Sorted, so that the planner does not look for any match by reading others' tasks.
  const first = `(select true from tasks where ${matching(shape, given, upTo)} ${orderBy(keys, order)} limit 1)`;
  if (filteredBy === 'nothing') return `coalesce(${first}, false)`;
  return `case when ${IS_KEYED} then ${isKeyedBefore(shape, given)} else coalesce(${first}, false) end`;
}

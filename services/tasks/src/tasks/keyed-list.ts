import { runsOf, type Run } from './list-runs.ts';
import { compared, mostRows, orderBy, type Given, type ListShape } from './list-shape.ts';
import { TASK_STATES } from './task-states.ts';

/**
 * The ids of a page's tasks and of those that an offset skips, from the keys of a large owner. However many tasks there
 * are, it reads no more than it needs: each state within each run of the list is read in the order of an index, starting at
 * the place, and merged with the others until the page is full. `isKeyed`: SQL; if false, nothing is read.
 */
export function keyedIds(shape: ListShape, given: Given, isKeyed: string): string {
  const { order, placeIn } = shape;
  const shares = runsOf(order)
    .slice(placeIn ?? 0)
    .map((run, number) => {
      const place = number === 0 && placeIn !== undefined ? [placeOf(run, shape, given)] : [];
      const scans = scansOf(shape, run, given, { conditions: [isKeyed, ...place], most: mostRows(given) });
      // What earlier runs leave of the page.
      const before = Array.from({ length: number }, (_, earlier) => ` - (select count(*) from run_${earlier})`).join(
        '',
      );
      return `run_${number} as (select id from (${scans}) matches ${orderBy(run.keys, order)} limit ${mostRows(given)}${before})`;
    });
  return `with ${shares.join(', ')} ${shares.map((_, number) => `select id from run_${number}`).join(' union all ')}`;
}

/** SQL that is true when a match comes before the place or at it; without a place, when there is any. */
export function isKeyedBefore(shape: ListShape, given: Given): string {
  const { order, placeIn } = shape;
  const runs = runsOf(order).slice(0, placeIn === undefined ? undefined : placeIn + 1);
  const firsts = runs.map((run, number) => {
    const place = number === placeIn ? [placeOf(run, shape, given, true)] : [];
    return `exists (select from (${scansOf(shape, run, given, { conditions: place, most: '1' })}) matches)`;
  });
  return `(${firsts.join(' or ')})`;
}

const placeOf = ({ placeKeys, firstValue }: Run, { order }: ListShape, given: Given, isUpTo = false) =>
  compared(placeKeys, order, given, { isUpTo, first: firstValue });

/**
 * A scan for each state, which does not start unless its state is wanted. Each is sorted and limited separately, because
 * PostgreSQL merges only sorted inputs, and considers the index only when few rows are wanted.
 */
function scansOf(
  { order, filteredBy }: ListShape,
  { states = [...TASK_STATES.keys()], condition, keys }: Run,
  given: Given,
  { conditions, most }: { conditions: string[]; most: string },
): string {
  const scans = states.map((state) => {
    const all = [
      `user_id = ${given('owner')}`,
      ...(filteredBy === 'category' ? [`category = ${given('category')}::text`] : []),
      `state = ${state}`,
      `${state} = any(${given('states')}::int[])`,
      ...(condition === undefined ? [] : [condition]),
      ...conditions,
    ];
    return `(select ${keys.map(({ sql }) => sql).join(', ')} from task_keys where ${all.join(' and ')} ${orderBy(keys, order)} limit ${most})`;
  });
  return scans.join(' union all ');
}

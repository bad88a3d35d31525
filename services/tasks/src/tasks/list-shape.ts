import type { Key } from './list-runs.ts';
import type { TaskOrder } from './task-order.ts';

export interface ListShape {
  order: TaskOrder;
  /** `nothing` is for lists by age, for which all tasks have an index; `category` is besides states. */
  filteredBy: 'nothing' | 'states' | 'category';
  /** Continues after a place, which is in the run of this number (see list-runs.ts). */
  placeIn: number | undefined;
  /** Also returns counts and the head of the owner's feed. */
  withFeed: boolean;
  /** Also tells whether a match comes before the place; without a place, whether there is any match. */
  withPrevious: boolean;
}

export type ListParameter = 'owner' | 'states' | 'category' | 'limit' | 'offset' | 'withTotal' | `place ${number}`;

/** SQL of a parameter. */
export type Given = (name: ListParameter) => string;

/** As many as there may be up to the end of the page. */
export const mostRows = (given: Given) => `${given('limit')}::bigint + ${given('offset')}::bigint`;

export const orderBy = (keys: Key[], { direction }: TaskOrder) =>
  `order by ${keys.map(({ sql }) => `${sql} ${direction}`).join(', ')}`;

/** True behind the place, or `upTo` it. `first`: where the keys begin among the place's values. */
export function compared(
  keys: Key[],
  { direction }: TaskOrder,
  given: Given,
  { isUpTo = false, first = 0 }: { isUpTo?: boolean; first?: number } = {},
): string {
  const sign = (direction === 'ASC') === isUpTo ? '<' : '>';
  const values = keys.map(({ valueOf }, index) => valueOf(given(`place ${first + index}`)));
  return `(${keys.map(({ sql }) => sql).join(', ')}) ${sign}${isUpTo ? '=' : ''} (${values.join(', ')})`;
}

import type { PlaceInOrder, TaskOrder } from './task-order.ts';
import { RANK } from './task-states.ts';

export interface Key {
  sql: string;
  /** SQL of a parameter's value, to compare with. */
  valueOf: (parameter: string) => string;
}

const time = (sql: string): Key => ({ sql, valueOf: (parameter) => `${parameter}::timestamptz` });

/** Age and then id break ties, so that every task has a unique place. */
const AGE: Key[] = [time('created_at'), { sql: 'id', valueOf: (parameter) => `${parameter}::uuid` }];

/** What a list is sorted by. Matches the values of `placeOf`. */
export function keysOf({ field, direction }: TaskOrder): Key[] {
  switch (field) {
    case 'CREATED_AT':
      return AGE;
    case 'UPDATED_AT':
      return [time('updated_at'), ...AGE];
    case 'DUE_DATE': {
      // Tasks without a due date come last in either direction.
      const never = direction === 'ASC' ? `'infinity'` : `'-infinity'`;
      const valueOf = (parameter: string) => `coalesce(${parameter}::timestamptz, ${never})`;
      return [{ sql: `coalesce(due_date, ${never})`, valueOf }, ...AGE];
    }
    case 'PRIORITY':
      return [{ sql: RANK, valueOf: (parameter) => `${parameter}::int` }, ...AGE];
  }
}

/**
 * A stretch of a list whose order is that of an index of `task_keys`: all of these tasks come before those of the next
 * run. A list by due date has two, one by priority has three.
 */
export interface Run {
  /** SQL that is true for the run's tasks; absent when there is no other run. */
  condition?: string;
  /** The states that its tasks may be in; absent: any. */
  states?: number[];
  /** Columns of the index. */
  keys: Key[];
  /** The keys by which a place within the run is compared, and the index of the first one's value among the place's. */
  placeKeys: Key[];
  firstValue: number;
}

const runBy = (...first: Key[]): Run => ({ keys: [...first, ...AGE], placeKeys: [...first, ...AGE], firstValue: 0 });

/** In the order of the list. */
export function runsOf({ field, direction }: TaskOrder): Run[] {
  switch (field) {
    case 'CREATED_AT':
      return [runBy()];
    case 'UPDATED_AT':
      return [runBy(time('updated_at'))];
    case 'DUE_DATE': {
      const dated = runBy(time('due_date'));
      return [
        { ...dated, condition: 'due_date is not null' },
        { ...dated, condition: 'due_date is null', placeKeys: AGE, firstValue: 1 },
      ];
    }
    case 'PRIORITY': {
      const ranks = direction === 'ASC' ? [0, 1, 2] : [2, 1, 0];
      return ranks.map((rank) => ({ keys: AGE, placeKeys: AGE, firstValue: 1, states: [rank, rank + 3] }));
    }
  }
}

/** The number of the run that the place is in. */
export function runOfPlace({ field, direction }: TaskOrder, [first]: PlaceInOrder): number {
  if (field === 'DUE_DATE') return first === null ? 1 : 0;
  if (field === 'PRIORITY') return direction === 'ASC' ? Number(first) : 2 - Number(first);
  return 0;
}

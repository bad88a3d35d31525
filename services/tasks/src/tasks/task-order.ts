import { badUserInput, parseTimestamp, parseUuid, PRIORITIES } from '@taskmesh/contracts';
import { parseJson } from '@taskmesh/service';
import { z } from 'zod';
import type { Task } from './task.entities.ts';

export interface TaskListEdge {
  node: Task;
  order: TaskOrder;
}

export interface TaskPage {
  edges: TaskListEdge[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: () => string | null;
    endCursor: () => string | null;
  };
  /** 0 unless requested. */
  totalCount: number;
  /** Empty unless requested. */
  changesCursor: string;
}

export interface RequestedFields {
  tasks: boolean;
  totalCount: boolean;
  changesCursor: boolean;
  hasPreviousPage: boolean;
  /** How often the response repeats the texts of each task, for example through aliases. */
  copies: number;
}

export interface TaskOrder {
  field: 'CREATED_AT' | 'UPDATED_AT' | 'DUE_DATE' | 'PRIORITY';
  direction: 'ASC' | 'DESC';
}

export const DEFAULT_ORDER: TaskOrder = { field: 'CREATED_AT', direction: 'DESC' };

/** One value of a position; null means no due date. */
type SortValue = string | number | null;

/** A task's sort values, including tie-breakers. */
export type OrderPosition = SortValue[];

/** One of the values that a list is sorted by. */
interface SortKey {
  /** The SQL expression of a task's value. */
  sql: string;
  /** The SQL expression of a parameter's value, for comparison. */
  parameterSql: (parameter: string) => string;
  valueOf: (task: Task) => SortValue;
  schema: z.ZodType<SortValue>;
}

const time = z.string().refine((value) => parseTimestamp(value) === value);

const timeKey = (sql: string, valueOf: SortKey['valueOf']): SortKey => ({
  ...{ sql, valueOf, schema: time },
  parameterSql: (parameter) => `${parameter}::timestamptz`,
});

/** Age and then id break ties, so that every task has a unique position. */
const AGE_KEYS: SortKey[] = [
  timeKey('created_at', ({ createdAt }) => createdAt),
  {
    sql: 'id',
    parameterSql: (parameter) => `${parameter}::uuid`,
    valueOf: ({ id }) => id,
    schema: z.string().refine((value) => parseUuid(value) !== undefined),
  },
];

const LAST_PRIORITY = PRIORITIES.length - 1;

/** Returns the keys that a list is sorted by, most significant first. */
export function keysOf({ field, direction }: TaskOrder): SortKey[] {
  switch (field) {
    case 'CREATED_AT':
      return AGE_KEYS;
    case 'UPDATED_AT':
      return [timeKey('updated_at', ({ updatedAt }) => updatedAt), ...AGE_KEYS];
    case 'DUE_DATE': {
      // Tasks without a due date come last in either direction.
      const orNever = (value: string) => `coalesce(${value}, ${direction === 'ASC' ? `'infinity'` : `'-infinity'`})`;
      return [
        {
          sql: orNever('due_date'),
          parameterSql: (parameter) => orNever(`${parameter}::timestamptz`),
          valueOf: ({ dueDate }) => dueDate,
          schema: time.nullable(),
        },
        ...AGE_KEYS,
      ];
    }
    case 'PRIORITY':
      return [
        {
          sql: `(case priority when 'low' then 0 when 'medium' then 1 else 2 end)`,
          parameterSql: (parameter) => `${parameter}::int`,
          valueOf: ({ priority }) => PRIORITIES.indexOf(priority),
          schema: z.int().min(0).max(LAST_PRIORITY),
        },
        ...AGE_KEYS,
      ];
  }
}

export const positionOf = (task: Task, order: TaskOrder): OrderPosition =>
  keysOf(order).map(({ valueOf }) => valueOf(task));

/** Encodes the task's position, opaque to clients. It contains the sort values, so it outlives the task. */
export function cursorOf(task: Task, order: TaskOrder): string {
  return Buffer.from(JSON.stringify([order.field, order.direction, ...positionOf(task, order)])).toString('base64url');
}

/** @throws AppError BAD_USER_INPUT when the cursor is malformed or belongs to another order */
export function decodeCursor(order: TaskOrder, cursor: string): OrderPosition {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  const [field, direction, ...values] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const keys = keysOf(order);
  const isPosition =
    values.length === keys.length && keys.every(({ schema }, index) => schema.safeParse(values[index]).success);
  if (isPosition && field === order.field && direction === order.direction) return values as OrderPosition; // the schemas have checked it
  throw badUserInput([{ path: 'after', message: 'after is not a cursor of this list in this order.' }]);
}

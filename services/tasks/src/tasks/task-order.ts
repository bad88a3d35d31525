import { badUserInput, parseTimestamp, parseUuid, PRIORITIES } from '@taskmesh/contracts';
import { parseJson } from '@taskmesh/service';
import { z } from 'zod';
import type { Task } from './task.entities.ts';

export interface TaskPlace {
  node: Task;
  order: TaskOrder;
}

export interface TaskPage {
  edges: TaskPlace[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
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
}

export interface TaskOrder {
  field: 'CREATED_AT' | 'UPDATED_AT' | 'DUE_DATE' | 'PRIORITY';
  direction: 'ASC' | 'DESC';
}

export const DEFAULT_ORDER: TaskOrder = { field: 'CREATED_AT', direction: 'DESC' };

/** A task's sort values, including tie-breakers. Priorities are ranks; null means no due date. */
export type PlaceInOrder = (string | number | null)[];

export function placeOf(task: Task, { field }: TaskOrder): PlaceInOrder {
  switch (field) {
    case 'CREATED_AT':
      return [task.createdAt, task.id];
    case 'UPDATED_AT':
      return [task.updatedAt, task.createdAt, task.id];
    case 'DUE_DATE':
      return [task.dueDate, task.createdAt, task.id];
    case 'PRIORITY':
      return [PRIORITIES.indexOf(task.priority), task.createdAt, task.id];
  }
}

/** Opaque to clients. It contains sort values, so it remains valid when its task is deleted. */
export function encodeCursor(order: TaskOrder, place: PlaceInOrder): string {
  return Buffer.from(JSON.stringify([order.field, order.direction, ...place])).toString('base64url');
}

/** @throws AppError BAD_USER_INPUT when malformed, or made for another order */
export function decodeCursor(order: TaskOrder, cursor: string): PlaceInOrder {
  const [field, direction, ...place] = partsOf(cursor);
  const isSameOrder = field === order.field && direction === order.direction;
  const result = placeIn[order.field].safeParse(place);
  if (isSameOrder && result.success) return result.data;
  throw badUserInput([{ path: 'after', message: 'after is not a cursor of this list in this order.' }]);
}

function partsOf(cursor: string): unknown[] {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  return Array.isArray(parts) ? parts : [];
}

const time = z.string().refine((value) => parseTimestamp(value) === value);
const id = z.string().refine((value) => parseUuid(value) !== undefined);

const placeIn: Record<TaskOrder['field'], z.ZodType<PlaceInOrder>> = {
  CREATED_AT: z.tuple([time, id]),
  UPDATED_AT: z.tuple([time, time, id]),
  DUE_DATE: z.tuple([time.nullable(), time, id]),
  PRIORITY: z.tuple([
    z
      .int()
      .min(0)
      .max(PRIORITIES.length - 1),
    time,
    id,
  ]),
};

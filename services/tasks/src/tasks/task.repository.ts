import { isCheckViolation, type Database, type Statement } from '@taskmesh/database';
import type { TaskRow } from '@taskmesh/events';
import type { FeedPosition } from '@taskmesh/internal-api';
import type { CreateTask, UpdateTask } from '@taskmesh/validation';
import { partOf } from '../feed/partition.ts';
import { STATISTICS } from './count.statements.ts';
import { runOfPlace } from './list-runs.ts';
import type { ListParameter, ListShape } from './list-shape.ts';
import { listStatement } from './list.statements.ts';
import type { PlaceInOrder, TaskOrder } from './task-order.ts';
import { GIVEN_FIELDS, toTask } from './task-row.ts';
import { statesOf, type StateFilter } from './task-states.ts';
import { ownerIsGone } from './task.errors.ts';
import * as statements from './task.statements.ts';
import type { Task } from './task.entity.ts';

export interface Write {
  ownerId: string;
  /** RFC 3339 */
  now: string;
  traceparent: string | undefined;
}

export interface OnceKey {
  key: string;
  inputHash: string;
  /** RFC 3339 */
  expiresAt: string;
}

export type CreatedOnce = { outcome: 'created' | 'before'; task: Task } | { outcome: 'running' | 'other-input' };
export type Changed<Result> =
  { outcome: 'changed'; result: Result } | { outcome: 'not-found' } | { outcome: 'other-version' };

export interface ListRequest {
  ownerId: string;
  filter: StateFilter & { category?: string | null };
  order: TaskOrder;
  limit: number;
  offset: number;
  behind: PlaceInOrder | undefined;
  withTotal: boolean;
  withHead: boolean;
  withPrevious: boolean;
}

export interface Listed {
  tasks: Task[];
  /** Each field is set if it was requested. */
  total?: number;
  head?: FeedPosition;
  hasPrevious?: boolean;
}

/** A row of a page; the task's columns are null when the page is empty. */
type ListedRow = (TaskRow | { id: null }) & {
  is_kept?: boolean;
  total?: number | null;
  epoch?: number;
  head?: number;
  has_previous?: boolean;
};

export type TaskRepository = ReturnType<typeof createTaskRepository>;

export interface TaskRepositoryDeps {
  database: Pick<Database, 'run'>;
  /** Called when a read found that an owner's tasks are not counted, or lack keys; must not throw. */
  onUnkept: (ownerId: string) => void;
}

export function createTaskRepository({ database, onUnkept }: TaskRepositoryDeps) {
  /** @throws AppError UNAUTHENTICATED when the owner's feed has ended */
  const runWrite = async <Row extends Record<string, unknown>>(statement: Statement, values: unknown[]) => {
    try {
      return await database.run<Row>('write', statement, values);
    } catch (error) {
      throw isCheckViolation(error, 'feeds_ended') ? ownerIsGone() : error;
    }
  };

  return {
    async create(write: Write, id: string, input: CreateTask): Promise<Task> {
      const [row] = await runWrite<TaskRow>(statements.CREATE, createValues(write, id, input));
      return toTask(present(row));
    },

    async createOnce(write: Write, id: string, input: CreateTask, once: OnceKey): Promise<CreatedOnce> {
      const values = createValues(write, id, input, [once.key, once.inputHash, once.expiresAt]);
      const [row] = await runWrite<{ running: boolean } & (TaskRow | { id: null })>(statements.CREATE_ONCE, values);
      const { running, ...task } = present(row);
      // The running request may itself be a repetition, so the first one's task may exist.
      if (running || task.id === null) return this.createdBefore(write, once);
      return { outcome: 'created', task: toTask(task) };
    },

    async createdBefore({ ownerId, now }: Write, { key, inputHash }: OnceKey): Promise<CreatedOnce> {
      const [first] = await database.run<{ input_hash: string; task: string }>('read', statements.FIRST_CREATED, [
        ownerId,
        key,
        now,
      ]);
      // The first request is still running, or housekeeping has just deleted its key; to the caller that is the same.
      if (!first) return { outcome: 'running' };
      if (first.input_hash !== inputHash) return { outcome: 'other-input' };
      return { outcome: 'before', task: toTask(JSON.parse(first.task)) };
    },

    /** Deletes a batch of expired idempotency keys, and returns their number. */
    async forgetKeys(now: string, limit: number): Promise<number> {
      const [row] = await database.run<{ count: number }>('write', statements.FORGET_KEYS, [now, limit]);
      return row?.count ?? 0;
    },

    async update(write: Write, id: string, input: UpdateTask, ifVersion: number | null): Promise<Changed<Task>> {
      const [row] = await runWrite<TaskRow | { id: null }>(statements.UPDATE, [
        ...writeValues(write, id),
        ifVersion,
        write.now,
        ...changedValues(input),
      ]);
      if (!row) return { outcome: 'not-found' };
      return row.id === null ? { outcome: 'other-version' } : { outcome: 'changed', result: toTask(row) };
    },

    async remove(write: Write, id: string, ifVersion: number | null): Promise<Changed<string>> {
      const values = [...writeValues(write, id), ifVersion, write.now];
      const [row] = await runWrite<{ id: string | null }>(statements.DELETE, values);
      if (!row) return { outcome: 'not-found' };
      return row.id === null ? { outcome: 'other-version' } : { outcome: 'changed', result: row.id };
    },

    async find(ownerId: string, id: string): Promise<Task | undefined> {
      const [row] = await database.run<TaskRow>('read', statements.FIND, [id, ownerId]);
      return row && toTask(row);
    },

    async list(request: ListRequest): Promise<Listed> {
      const { ownerId, withHead } = request;
      const { parameters, ...statement } = listStatement(shapeOf(request));
      const valueOf = listValues(request);
      const rows = await database.run<ListedRow>('read', statement, parameters.map(valueOf));
      const [first] = rows;
      if (first?.is_kept === false && (first.id !== null || first.total)) onUnkept(ownerId);
      return {
        tasks: rows.flatMap((row) => (row.id === null ? [] : [toTask(row)])),
        total: first?.total ?? undefined,
        head: withHead ? { epoch: first?.epoch ?? 0, sequence: first?.head ?? 0 } : undefined,
        hasPrevious: first?.has_previous,
      };
    },

    async statistics(ownerId: string): Promise<{ total: number; completed: number }> {
      const [row] = await database.run<{ is_kept: boolean; total: number; completed: number }>('read', STATISTICS, [
        ownerId,
      ]);
      const { is_kept: isKept, ...counts } = present(row);
      if (!isKept && counts.total > 0) onUnkept(ownerId);
      return counts;
    },
  };
}

function shapeOf({ filter, order, behind, withTotal, withHead, withPrevious }: ListRequest): ListShape {
  const isAnyState = filter.completed == null && filter.priority == null;
  return {
    order,
    filteredBy:
      filter.category != null ? 'category' : isAnyState && order.field === 'CREATED_AT' ? 'nothing' : 'states',
    placeIn: behind && runOfPlace(order, behind),
    withFeed: withTotal || withHead,
    withPrevious,
  };
}

function listValues({ ownerId, filter, limit, offset, behind, withTotal }: ListRequest) {
  return (parameter: ListParameter): unknown => {
    switch (parameter) {
      case 'owner':
        return ownerId;
      case 'states':
        return statesOf(filter);
      case 'completed':
      case 'priority':
      case 'category':
        return filter[parameter] ?? null;
      case 'limit':
        return limit;
      case 'offset':
        return offset;
      case 'withTotal':
        return withTotal;
      default:
        return behind?.[Number(parameter.slice('place '.length))];
    }
  };
}

function writeValues({ ownerId, traceparent }: Write, id: string): unknown[] {
  return [partOf(ownerId), traceparent ?? null, id, ownerId];
}

/** For each of GIVEN_FIELDS a flag and the value, as UPDATE expects them. */
function changedValues(input: UpdateTask): unknown[] {
  const values: unknown[] = [];
  for (const field of GIVEN_FIELDS) values.push(input[field] !== undefined, input[field] ?? null);
  return values;
}

function createValues(write: Write, id: string, input: CreateTask, once: string[] = []): unknown[] {
  return [...writeValues(write, id), write.now, ...once, ...GIVEN_FIELDS.map((field) => input[field] ?? null)];
}

function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('The statement gave no row.');
  return row;
}

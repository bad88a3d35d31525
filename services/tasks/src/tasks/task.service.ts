import type { FeedPosition } from '@taskmesh/internal-api';
import type { Clock, Ids } from '@taskmesh/service';
import { createTaskInput, parseInput, parseUuid, text, updateTaskInput, type CreateTask } from '@taskmesh/contracts';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { taskNotFound } from './task.errors.ts';
import type { Task } from './task.entities.ts';
import {
  cursorOf,
  decodeCursor,
  DEFAULT_ORDER,
  type RequestedFields,
  type TaskOrder,
  type TaskPage,
} from './task-order.ts';
import { LARGE_PAGE, type RequestReads } from './request-reads.ts';
import type { TaskRepository, WriteOptions } from './task.repository.ts';

/** How long an idempotency key is kept. */
export const KEY_LIFETIME_MS = 24 * 3_600_000;

export interface Caller {
  userId: string;
  /** From `networkOf`. */
  network: string;
  traceparent?: string | undefined;
}

export interface TaskServiceDeps {
  repository: TaskRepository;
  signCursor: (ownerId: string, position: FeedPosition) => Promise<string>;
  /** Called after each commit that changed an owner's tasks; must not throw. */
  onCommitted: (ownerId: string) => void;
  clock: Clock;
  ids: Ids;
}

export interface ListArguments {
  filter?: unknown;
  orderBy?: Partial<TaskOrder> | null;
  first?: unknown;
  after?: unknown;
  offset?: unknown;
}

export interface TaskStatistics {
  total: number;
  completed: number;
  pending: number;
  completionPercentage: number;
}

const MAX_PAGE_SIZE = 1_000;
const MAX_INT = 2_147_483_647;
const DEFAULT_PAGE_SIZE = 50;

const first = `first must be from 1 to ${MAX_PAGE_SIZE}.`;

/** The arguments of a list; `null` always counts as absent. */
const listInput = z
  .object({
    filter: z
      .object({
        completed: z.boolean().nullish(),
        category: text('category', { max: 255 }).nullish(),
        priority: z.enum(['low', 'medium', 'high']).nullish(),
      })
      .nullish()
      .transform((filter) => filter ?? {}),
    first: z
      .int(first)
      .min(1, first)
      .max(MAX_PAGE_SIZE, first)
      .nullish()
      .transform((count) => count ?? DEFAULT_PAGE_SIZE),
    after: z.string().nullish(),
    offset: z.int().min(0, 'offset must not be negative.').max(MAX_INT).nullish(),
  })
  .refine(({ after, offset }) => after == null || offset == null, {
    path: ['offset'],
    message: 'after and offset exclude each other.',
  });

const idempotencyKeyInput = z.object({
  idempotencyKey: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'idempotencyKey must have 1 to 255 printable ASCII characters.'),
});

/**
 * Reads and writes the caller's own tasks. Writes fail with SERVICE_UNAVAILABLE while too many changes of the caller wait to
 * be published.
 */
export interface TaskService {
  /** @throws AppError BAD_USER_INPUT; CONFLICT while the key's first request runs, or when the owner has the maximum of tasks */
  create(caller: Caller, input: unknown, idempotencyKey?: unknown): Promise<Task>;
  /** @throws AppError BAD_USER_INPUT, NOT_FOUND, PRECONDITION_FAILED */
  update(caller: Caller, id: string, input: unknown, ifVersion?: number | null): Promise<Task>;
  /** Returns the id of the deleted task. @throws AppError NOT_FOUND, PRECONDITION_FAILED */
  remove(caller: Caller, id: string, ifVersion?: number | null): Promise<string>;
  find(caller: Caller, id: string): Promise<Task | null>;
  /** @throws AppError BAD_USER_INPUT; SERVICE_UNAVAILABLE when too many large pages are being sent */
  list(caller: Caller, args: ListArguments, requested: RequestedFields, reads: RequestReads): Promise<TaskPage>;
  statistics(caller: Caller, reads: RequestReads): Promise<TaskStatistics>;
}

export function createTaskService(deps: TaskServiceDeps): TaskService {
  const { repository, signCursor, onCommitted, clock, ids } = deps;

  const write = ({ userId, traceparent }: Caller): WriteOptions => ({
    ownerId: userId,
    now: new Date(clock.now()).toISOString(),
    traceparent,
  });

  const createOnce = async (caller: Caller, task: CreateTask, key: string): Promise<Task> => {
    const once = { key, inputHash: hashOf(task), expiresAt: new Date(clock.now() + KEY_LIFETIME_MS).toISOString() };
    const { task: created, isNew } = await repository.createOnce(write(caller), ids.next(), task, once);
    if (isNew) onCommitted(caller.userId);
    return created;
  };

  /** @throws AppError NOT_FOUND for an id that no task can have */
  const requireUuid = (id: string): string => {
    const uuid = parseUuid(id);
    if (uuid === undefined) throw taskNotFound();
    return uuid;
  };

  return {
    async create(caller, input, idempotencyKey) {
      const task = parseInput(createTaskInput, input);
      if (idempotencyKey != null) {
        return createOnce(caller, task, parseInput(idempotencyKeyInput, { idempotencyKey }).idempotencyKey);
      }
      const created = await repository.create(write(caller), ids.next(), task);
      onCommitted(caller.userId);
      return created;
    },

    async update(caller, id, input, ifVersion) {
      const change = parseInput(updateTaskInput, input);
      const task = await repository.update(write(caller), requireUuid(id), change, ifVersion ?? null);
      onCommitted(caller.userId);
      return task;
    },

    async remove(caller, id, ifVersion) {
      const removed = await repository.remove(write(caller), requireUuid(id), ifVersion ?? null);
      onCommitted(caller.userId);
      return removed;
    },

    async find(caller, id) {
      const uuid = parseUuid(id);
      return uuid === undefined ? null : ((await repository.find(caller.userId, uuid)) ?? null);
    },

    async list(caller, args, requested, reads) {
      const { filter, first, after, offset } = parseInput(listInput, args);
      const order = { ...DEFAULT_ORDER, ...args.orderBy };
      const skipped = offset ?? 0;
      const position = after == null ? undefined : decodeCursor(order, after);
      const { copies } = requested;
      // Reads one task more than the page, to know whether there is a next page.
      const read = (max: number) =>
        reads.run(
          max * copies,
          (isSerialized) =>
            repository.list({
              ...{ ownerId: caller.userId, network: caller.network, isSerialized },
              ...{ filter, order, offset: skipped, after: position },
              limit: requested.tasks ? max + 1 : 0,
              withTotal: requested.totalCount,
              withHead: requested.changesCursor,
              withPrevious: requested.hasPreviousPage && (after != null || skipped > 0),
            }),
          ({ tasks }) => tasks.length * copies,
        );
      const wanted = requested.tasks ? first : 0;
      const few = Math.floor(LARGE_PAGE / copies);
      let listed = await read(Math.min(wanted, few));
      if (wanted > few && listed.tasks.length > few) listed = await read(wanted);
      const tasks = listed.tasks.slice(0, first);
      const cursorAt = (index: number) => {
        const task = tasks.at(index);
        return task ? cursorOf(task, order) : null;
      };
      return {
        edges: tasks.map((node) => ({ node, order })),
        pageInfo: {
          hasNextPage: listed.tasks.length > first,
          hasPreviousPage: listed.hasPrevious ?? false,
          startCursor: () => cursorAt(0),
          endCursor: () => cursorAt(-1),
        },
        totalCount: listed.total ?? 0,
        changesCursor: listed.head ? await signCursor(caller.userId, listed.head) : '',
      };
    },

    async statistics(caller, reads) {
      const { total, completed } = await reads.run(0, (isSerialized) =>
        repository.statistics({ ownerId: caller.userId, network: caller.network, isSerialized }),
      );
      const completionPercentage = total === 0 ? 0 : Math.round((completed / total) * 10_000) / 100;
      return { total, completed, pending: total - completed, completionPercentage };
    },
  };
}

/**
 * Hashes the parsed input, so that different spellings of the same input are equal. Fields added later count only if they
 * have a value, so that keys of the previous release remain valid.
 */
function hashOf({ title, description, dueDate, category, priority, completed, ...later }: CreateTask): string {
  const more = Object.entries(later).filter(([, value]) => value != null);
  const fields = [title, description, dueDate, category, priority, completed, ...more.toSorted()]; // JSON turns undefined into null
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}

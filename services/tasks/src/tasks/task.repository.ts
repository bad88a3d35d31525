import { isCheckViolation, type Database, type Statement } from '@taskmesh/store';
import type { AppError, CreateTask, TaskRow, UpdateTask } from '@taskmesh/contracts';
import type { FeedPosition } from '@taskmesh/internal-api';
import { partOf } from '../feed/change.ts';
import { countOf, present } from '../rows.ts';
import { listStatement, type ListRequest } from './list.statements.ts';
import { INPUT_FIELDS, toTask } from './task-row.ts';
import {
  requestInProgress,
  keyReused,
  ownerDeleted,
  taskNotFound,
  tooManyTasks,
  tooManyUnpublished,
  versionMismatch,
} from './task.errors.ts';
import * as statements from './task.statements.ts';
import type { Task } from './task.entities.ts';

export interface WriteOptions {
  ownerId: string;
  /** RFC 3339 */
  now: string;
  traceparent: string | undefined;
}

export interface IdempotencyOptions {
  key: string;
  inputHash: string;
  /** RFC 3339 */
  expiresAt: string;
}

export interface ListResult {
  tasks: Task[];
  /** Each field is set if it was requested. */
  total?: number;
  head?: FeedPosition;
  hasPrevious?: boolean;
}

/** A row of a page; the task's columns are null when the page is empty. */
type ListedRow = (TaskRow | { id: null }) & {
  total?: number | null;
  epoch?: number;
  head?: number;
  has_previous?: boolean;
};

/** A row of an update or delete that wrote nothing, with the version of the task. */
type Unchanged = { id: null; found: number };

type CreatedOnceRow = { is_ours: boolean; has_room: boolean | null } & (TaskRow | { id: null });

export type TaskRepository = ReturnType<typeof createTaskRepository>;

export interface TaskRepositoryDeps {
  database: Pick<Database, 'run'>;
  /** Maximum number of tasks per owner; 0: unlimited. */
  maxTasks: number;
}

const MAX_COUNT = 2 ** 31 - 1;

/** Whose share of the connections a read uses. */
export interface Reader {
  ownerId: string;
  /** The caller's, from `networkOf`. */
  network: string;
  /** Whether the read need not wait for other statements. @default false */
  isSerialized?: boolean;
}

/** The arguments that limit how many reads run at once; none for a serialized read. */
const limitsOf = ({ ownerId, network, isSerialized }: Reader, isLong: boolean) =>
  isSerialized ? [] : ([ownerId, isLong ? network : undefined] as const);

export function createTaskRepository({ database, maxTasks }: TaskRepositoryDeps) {
  const limit = maxTasks || MAX_COUNT;

  /** @throws AppError UNAUTHENTICATED when the owner's feed has ended */
  const runWrite = async <Row extends Record<string, unknown>>(
    { ownerId }: WriteOptions,
    statement: Statement,
    values: unknown[],
  ) => {
    try {
      return await database.run<Row>('write', statement, values, ownerId);
    } catch (error) {
      throw isCheckViolation(error, 'feeds_ended') ? ownerDeleted() : error;
    }
  };

  const refusalOf = async ({ ownerId }: WriteOptions): Promise<AppError> => {
    const [row] = await database.run<{ is_full: boolean }>('read', statements.CHECK_LIMIT, [ownerId, limit], ownerId);
    return row?.is_full ? tooManyTasks(maxTasks) : tooManyUnpublished();
  };

  return {
    /** @throws AppError CONFLICT when the owner has the maximum number of tasks, SERVICE_UNAVAILABLE with too many unpublished changes */
    async create(write: WriteOptions, id: string, input: CreateTask): Promise<Task> {
      const values = [...writeValues(write, id), write.now, limit, ...inputValues(input)];
      const [row] = await runWrite<TaskRow>(write, statements.CREATE, values);
      if (!row) throw await refusalOf(write);
      return toTask(row);
    },

    /** `isNew`: first use of the key. @throws like `create`; BAD_USER_INPUT for another input, CONFLICT while the first request runs */
    async createOnce(
      write: WriteOptions,
      id: string,
      input: CreateTask,
      once: IdempotencyOptions,
    ): Promise<{ task: Task; isNew: boolean }> {
      const { key, inputHash, expiresAt } = once;
      const values = [...writeValues(write, id), write.now, limit, key, inputHash, expiresAt, ...inputValues(input)];
      const attempt = async () => present((await runWrite<CreatedOnceRow>(write, statements.CREATE_ONCE, values))[0]);
      let row = await attempt();
      if (row.is_ours && row.has_room === null) {
        await runWrite(write, statements.OPEN_FEED, [write.ownerId]);
        row = await attempt();
      }
      if (row.id !== null) return { task: toTask(row), isNew: true };
      type First = { input_hash: string; task: string };
      const { ownerId, now } = write;
      // The running request may itself be a retry, so the first request's task may already exist.
      const [first] = await database.run<First>('read', statements.FIRST_CREATED, [ownerId, key, now], ownerId);
      // The first request is still running, or housekeeping has just deleted its key. The caller should retry in both cases.
      if (!first) throw row.has_room === false ? await refusalOf(write) : requestInProgress();
      if (first.input_hash !== inputHash) throw keyReused();
      return { task: toTask(JSON.parse(first.task)), isNew: false };
    },

    /** Deletes a batch of expired idempotency keys; returns their number. */
    forgetExpiredKeys: (now: string, limit: number): Promise<number> =>
      countOf(database, statements.FORGET_EXPIRED_KEYS, [now, limit]),

    /** Owners with an idempotency key that expires after `since`. */
    async ownersWithKeys(since: string): Promise<string[]> {
      const rows = await database.run<{ owner_id: string }>('read', statements.OWNERS_WITH_KEYS, [since]);
      return rows.map(({ owner_id }) => owner_id);
    },

    /** Deletes a batch of keys beyond the newest `kept` of each of these owners. */
    forgetSurplusKeys: (owners: string[], limit: number, kept: number): Promise<number> =>
      countOf(database, statements.FORGET_SURPLUS_KEYS, [owners, limit, kept]),

    /** @throws AppError NOT_FOUND, PRECONDITION_FAILED, SERVICE_UNAVAILABLE with too many unpublished changes */
    async update(write: WriteOptions, id: string, input: UpdateTask, ifVersion: number | null): Promise<Task> {
      const [row] = await runWrite<TaskRow | Unchanged>(write, statements.UPDATE, [
        ...writeValues(write, id),
        ifVersion,
        write.now,
        ...changedValues(input),
      ]);
      return toTask(changed(row, ifVersion));
    },

    /** Returns the task's id. @throws like `update` */
    async remove(write: WriteOptions, id: string, ifVersion: number | null): Promise<string> {
      const values = [...writeValues(write, id), ifVersion, write.now];
      const [row] = await runWrite<{ id: string } | Unchanged>(write, statements.DELETE, values);
      return changed(row, ifVersion).id;
    },

    async find(ownerId: string, id: string): Promise<Task | undefined> {
      const [row] = await database.run<TaskRow>('read', statements.FIND, [id, ownerId], ownerId);
      return row && toTask(row);
    },

    async list(request: ListRequest & Reader): Promise<ListResult> {
      const { statement, values, readsAll } = listStatement(request);
      const rows = await database.run<ListedRow>('read', statement, values, ...limitsOf(request, readsAll));
      const [first] = rows;
      return {
        tasks: rows.flatMap((row) => (row.id === null ? [] : [toTask(row)])),
        total: first?.total ?? undefined,
        head: request.withHead ? { epoch: first?.epoch ?? 0, sequence: first?.head ?? 0 } : undefined,
        hasPrevious: first?.has_previous,
      };
    },

    async statistics(reader: Reader): Promise<{ total: number; completed: number }> {
      type Counts = { total: number; completed: number };
      const limits = limitsOf(reader, true);
      const [row] = await database.run<Counts>('read', statements.STATISTICS, [reader.ownerId], ...limits);
      return present(row);
    },
  };
}

/** Returns the row of an update or delete; throws if it wrote nothing. */
function changed<Row extends { id: string }>(row: Row | Unchanged | undefined, expected: number | null): Row {
  if (!row) throw taskNotFound();
  if (row.id !== null) return row;
  throw expected === null || expected === row.found ? tooManyUnpublished() : versionMismatch();
}

function writeValues({ ownerId, traceparent }: WriteOptions, id: string): unknown[] {
  return [partOf(ownerId), traceparent ?? null, id, ownerId];
}

/** Returns a flag and the value for each of INPUT_FIELDS, as UPDATE expects them. */
function changedValues(input: UpdateTask): unknown[] {
  const values: unknown[] = [];
  for (const field of INPUT_FIELDS) values.push(input[field] !== undefined, input[field] ?? null);
  return values;
}

function inputValues(input: CreateTask): unknown[] {
  return INPUT_FIELDS.map((field) => input[field] ?? null);
}

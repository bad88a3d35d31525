import { TaskmeshError } from '../../src/errors.ts';
import type { Change, Page } from '../../src/list/known-tasks.ts';
import type { Task } from '../../src/list/shape.ts';
import type {
  CreateTaskInput,
  CreateTaskMutationVariables,
  DeleteTaskMutationVariables,
  ReadTasksQueryVariables,
  TaskFilter,
  TaskOrder,
  UpdateTaskInput,
  UpdateTaskMutationVariables,
} from '../../src/operations.generated.ts';

export interface Reported {
  change: Change;
  traceparent: string | undefined;
}

const RANKS = ['LOW', 'MEDIUM', 'HIGH'];

/** A model of the server for one account, written from the API's documentation without the client's code. */
export function createModelServer(now: () => number) {
  let tasks = new Map<string, Task>();
  let epoch = 1;
  let log: Reported[] = [];
  /** How many changes have been dropped. */
  let expired = 0;
  let ids = 0;
  let backup = { tasks, keys: new Map<string, string>() };
  let keys = new Map<string, string>();
  const onChange = new Set<(reported: Reported) => void>();
  const onRestore = new Set<() => void>();

  const cursorAt = (sequence: number) => `${epoch}:${sequence}`;
  const refuse = (code: string): never => {
    throw new TaskmeshError(code, code);
  };
  const record = (kind: Change['kind'], task: Task, previous: Task | null, traceparent: string | undefined) => {
    const sequence = log.length + 1;
    const reported = { change: { cursor: cursorAt(sequence), sequence, kind, task, previous }, traceparent };
    log.push(reported);
    for (const tell of onChange) tell(reported);
    return task;
  };
  const stamp = () => new Date(now()).toISOString();
  const normal = (input: CreateTaskInput | UpdateTaskInput) =>
    Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const found = (id: string, ifVersion: number | null | undefined): Task => {
    const task = tasks.get(id) ?? refuse('NOT_FOUND');
    return ifVersion == null || ifVersion === task.version ? task : refuse('PRECONDITION_FAILED');
  };

  const matching = (filter: TaskFilter | null | undefined) =>
    [...tasks.values()].filter((task) =>
      (['completed', 'category', 'priority'] as const).every(
        (name) => filter?.[name] == null || task[name] === filter[name],
      ),
    );
  /** Tasks without a due date come last in both directions. */
  const comparing = (order: TaskOrder | null | undefined) => {
    const { field = 'CREATED_AT', direction = 'DESC' } = order ?? {};
    const placeOf = (task: Task) => {
      const first = {
        CREATED_AT: task.createdAt,
        UPDATED_AT: task.updatedAt,
        DUE_DATE: task.dueDate ?? '',
        PRIORITY: String(RANKS.indexOf(task.priority)),
      }[field];
      return [first, task.createdAt, task.id].join('|');
    };
    const isUndue = (task: Task) => Number(field === 'DUE_DATE' && task.dueDate === null);
    const sign = direction === 'ASC' ? 1 : -1;
    return (one: Task, other: Task) =>
      isUndue(one) - isUndue(other) ||
      sign * (placeOf(one) < placeOf(other) ? -1 : Number(placeOf(one) > placeOf(other)));
  };
  const ordered = (filter: TaskFilter | null | undefined, order: TaskOrder | null | undefined): Task[] =>
    matching(filter).sort(comparing(order));

  return {
    ordered,
    all: () => [...tasks.values()],
    /** Like the API's, a page cursor refers to the list of its time, and stays valid when its task is deleted. */
    read({ filter, orderBy, first, after }: ReadTasksQueryVariables): Page {
      const list = ordered(filter, orderBy);
      const compare = comparing(orderBy);
      const all = after == null ? list : list.filter((task) => compare(JSON.parse(after) as Task, task) < 0);
      const page = all.slice(0, first ?? 50);
      return {
        edges: page.map((node) => ({ node })),
        pageInfo: { hasNextPage: all.length > page.length, endCursor: JSON.stringify(page.at(-1) ?? null) },
        totalCount: list.length,
        changesCursor: cursorAt(log.length),
      };
    },
    task: (id: string): Task | null => tasks.get(id) ?? null,
    create({ input, idempotencyKey }: CreateTaskMutationVariables, traceparent?: string): Task {
      const before = idempotencyKey == null ? undefined : keys.get(idempotencyKey);
      if (before !== undefined) return JSON.parse(before) as Task; // as originally created
      const empty = { description: null, completed: false, dueDate: null, category: null, priority: 'MEDIUM' as const };
      const id = String(++ids).padStart(8, '0');
      const times = { createdAt: stamp(), updatedAt: stamp() };
      const task: Task = { ...empty, ...(normal(input) as { title: string }), id, ...times, version: 1 };
      tasks.set(id, task);
      if (idempotencyKey != null) keys.set(idempotencyKey, JSON.stringify(task));
      return record('INSERT', task, null, traceparent);
    },
    update({ id, input, ifVersion }: UpdateTaskMutationVariables, traceparent?: string): Task {
      const before = found(id, ifVersion);
      const updatedAt = new Date(Math.max(now(), Date.parse(before.updatedAt) + 1)).toISOString();
      const task: Task = { ...before, ...normal(input), updatedAt, version: before.version + 1 };
      tasks.set(id, task);
      return record('UPDATE', task, before, traceparent);
    },
    remove({ id, ifVersion }: DeleteTaskMutationVariables, traceparent?: string): string {
      const before = found(id, ifVersion);
      tasks.delete(id);
      record('DELETE', before, before, traceparent);
      return id;
    },
    /** The changes after a cursor. @throws CURSOR_EXPIRED */
    behind(cursor: string): Reported[] {
      const [itsEpoch, sequence = 0] = cursor.split(':').map(Number);
      if (itsEpoch !== epoch || sequence < expired) return refuse('CURSOR_EXPIRED');
      return log.slice(sequence);
    },
    /** Drops all changes reported so far. */
    expire: () => void (expired = log.length),
    backUp: () => void (backup = { tasks: new Map(tasks), keys: new Map(keys) }),
    restore() {
      tasks = new Map(backup.tasks);
      keys = new Map(backup.keys);
      epoch += 1;
      log = [];
      expired = 0;
      for (const tell of onRestore) tell();
    },
    onChange,
    onRestore,
  };
}

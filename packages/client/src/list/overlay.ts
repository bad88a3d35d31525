import type { UpdateTaskInput } from '../operations.generated.ts';
import type { CreateWrite, Write } from '../writes/write.ts';
import type { KnownTasks } from './known-tasks.ts';
import type { Task } from './shape.ts';

/** A task as a list shows it. */
export interface LiveTask extends Task {
  /** Constant while the task is shown, even when a new task gets the server's id; for frameworks that key their rows. */
  key: string;
  /** Whether it includes writes of this client that the server has not answered. */
  isPending: boolean;
}

/** The server's answers that the feed has not reported yet: the task, or null for a deleted one. */
export type Answered = ReadonlyMap<string, Task | null>;

/**
 * Tasks by id as they will be after all writes, as far as this list can know. The server will do the writes after all that is
 * known, and in their order. So their times are later than its times, also if this device's clock is wrong.
 */
export function overlay(
  known: Pick<KnownTasks, 'get' | 'latest'>,
  answered: Answered,
  writes: readonly Write[],
): Map<string, { task: Task; isPending: boolean } | null> {
  const over = new Map<string, { task: Task; isPending: boolean } | null>();
  let last = Date.parse(known.latest()) || 0;
  for (const [id, task] of answered) {
    over.set(id, task && { task, isPending: false });
    if (task) last = Math.max(last, Date.parse(task.updatedAt));
  }
  for (const write of writes) {
    last = Math.max(write.queuedAt, last + 1);
    const at = new Date(last).toISOString();
    const now = over.get(write.taskId);
    const before = now === undefined ? known.get(write.taskId) : now?.task;
    switch (write.kind) {
      case 'create':
        over.set(write.taskId, { task: created(write, at), isPending: true });
        break;
      case 'update':
        if (before) over.set(write.taskId, { task: updated(before, write.input, at), isPending: true });
        break;
      case 'delete':
        over.set(write.taskId, null);
    }
  }
  return over;
}

function created({ taskId, input }: CreateWrite, at: string): Task {
  return {
    id: taskId,
    title: input.title,
    description: input.description ?? null,
    completed: input.completed ?? false,
    dueDate: inUtc(input.dueDate) ?? null,
    category: input.category ?? null,
    priority: input.priority ?? 'MEDIUM',
    createdAt: at,
    updatedAt: at,
    version: 0,
  };
}

/** As on the server: absent fields stay unchanged. */
function updated(task: Task, input: UpdateTaskInput, at: string): Task {
  const next = { ...task, updatedAt: at };
  for (const [field, value] of Object.entries({ ...input, dueDate: inUtc(input.dueDate) }))
    if (value !== undefined) Object.assign(next, { [field]: value });
  return next;
}

/** In the API's form, by which lists are ordered. Anything that is not a time stays as it is; the server refuses it. */
function inUtc(time: string | null | undefined): string | null | undefined {
  const parsed = time ? Date.parse(time) : NaN;
  return Number.isNaN(parsed) ? time : new Date(parsed).toISOString();
}

import type { UpdateTaskInput } from '../operations.generated.ts';
import type { CreateWrite, Write } from '../writes/write.ts';
import type { KnownTasks } from './known-tasks.ts';
import type { Task } from './shape.ts';

/** A task as displayed in a list. */
export interface LiveTask extends Task {
  /** For frameworks that key their rows: stays the same even when a new task receives the server's id. */
  key: string;
  /** Whether the values include writes of this client that the server has not confirmed yet. */
  isPending: boolean;
}

/** Confirmed writes that the feed has not reported yet, by task id: the task, or null if it was deleted. */
export type ConfirmedTasks = ReadonlyMap<string, Task | null>;

/**
 * Predicts each task with confirmed or pending writes as it will be after them. The server will apply pending writes in order,
 * and after everything known so far. So their times are later than all known times, even if this device's clock is wrong.
 */
export function predictTasks(
  known: Pick<KnownTasks, 'get' | 'latest'>,
  confirmed: ConfirmedTasks,
  writes: readonly Write[],
): Map<string, { task: Task; isPending: boolean } | null> {
  const over = new Map<string, { task: Task; isPending: boolean } | null>();
  let last = Date.parse(known.latest()) || 0;
  for (const [id, task] of confirmed) {
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

/** Follows the server's rule: absent fields stay unchanged. */
function updated(task: Task, input: UpdateTaskInput, at: string): Task {
  const next = { ...task, updatedAt: at };
  for (const [field, value] of Object.entries({ ...input, dueDate: inUtc(input.dueDate) }))
    if (value !== undefined) Object.assign(next, { [field]: value });
  return next;
}

/** Converts to the API's format, which lists sort by. Leaves an invalid time unchanged, because the server rejects it anyway. */
function inUtc(time: string | null | undefined): string | null | undefined {
  const parsed = time ? Date.parse(time) : NaN;
  return Number.isNaN(parsed) ? time : new Date(parsed).toISOString();
}

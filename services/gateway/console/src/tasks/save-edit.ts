import { READ_TASK, TaskmeshError, type Client, type Task, type UpdateTaskInput } from '@taskmesh/client';
import { clashesOf, type Conflict } from './conflict.ts';

/** A change, and the task as the user saw it when making the change. */
export interface Edit {
  base: Task;
  changes: UpdateTaskInput;
}

/** FORBIDDEN: the gateway does not trust the text of the query, as during an update. */
const TEMPORARY = new Set(['NETWORK', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED', 'FORBIDDEN']);
const MIN_RETRY_MS = 1_000;
/** Longer timers would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Saves a change without overwriting concurrent changes to other fields. If the same field was changed elsewhere, saves
 * nothing and returns the conflict. Waits while there is no connection.
 * @throws TaskmeshError when the server refuses the change
 */
export async function saveEdit(
  client: Pick<Client, 'updateTask' | 'idOf'>,
  reader: TaskReader,
  { base, changes }: Edit,
): Promise<Conflict | undefined> {
  const conflictWith = (theirs: Task | null): Conflict => ({
    id: base.id,
    title: base.title,
    changes,
    theirs,
    clashes: theirs ? clashesOf(base, changes, theirs) : [],
    base,
  });
  // A task of version 0 is still being created, as version 1.
  let ifVersion = Math.max(base.version, 1);
  for (;;) {
    try {
      await client.updateTask(base.id, changes, { ifVersion });
      return undefined;
    } catch (error) {
      const code = error instanceof TaskmeshError ? error.code : undefined;
      if (code === 'NOT_FOUND') return conflictWith(null);
      if (code !== 'PRECONDITION_FAILED') throw error;
      const theirs = await reader.read(client.idOf(base.id));
      const conflict = conflictWith(theirs);
      if (!theirs || conflict.clashes.length > 0) return conflict;
      ifVersion = theirs.version;
    }
  }
}

/** Returns the conflict that caused the refusal of a change queued on an earlier page; undefined for other causes. */
export async function conflictOf(
  reader: TaskReader,
  { taskId, input, error }: { taskId: string; input: UpdateTaskInput; error: TaskmeshError },
): Promise<Conflict | undefined> {
  if (error.code !== 'PRECONDITION_FAILED' && error.code !== 'NOT_FOUND') return undefined;
  const theirs = await reader.read(taskId);
  const clashes = theirs ? clashesOf(undefined, input, theirs) : [];
  const title = theirs?.title ?? input.title ?? 'A task';
  return { id: taskId, title, changes: input, theirs, clashes, base: undefined };
}

/** Reads tasks that were changed elsewhere. */
export type TaskReader = ReturnType<typeof createTaskReader>;

export function createTaskReader(client: Pick<Client, 'request'>) {
  let waiting = 0;
  return {
    /** The number of changes that wait for a task and would be lost with the page. */
    waiting: () => waiting,
    async read(id: string): Promise<Task | null> {
      waiting += 1;
      return readTask(client, id).finally(() => (waiting -= 1));
    },
  };
}

/** Retries temporary failures without a limit, because a change depends on the result. */
async function readTask(client: Pick<Client, 'request'>, id: string): Promise<Task | null> {
  for (;;) {
    try {
      return (await client.request(READ_TASK, { id })).task;
    } catch (error) {
      if (!(error instanceof TaskmeshError) || !TEMPORARY.has(error.code)) throw error;
      const ms = Math.min(Math.max(MIN_RETRY_MS, error.retryAfterMs), MAX_TIMER_MS);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
}

import type { Task } from '../list/shape.ts';
import type { CreateTaskInput, UpdateTaskInput } from '../operations.generated.ts';

interface AnyWrite {
  /** 32 hex digits: the idempotency key of a create, and the trace by which the feed tells the change that it made. */
  key: string;
  /** Unix milliseconds. */
  queuedAt: number;
  /** When it was first sent, if it was: it may have been done, whatever came back. */
  sentAt?: number;
}

export interface CreateWrite extends AnyWrite {
  kind: 'create';
  /** Its id until the server has given it one. */
  taskId: string;
  input: CreateTaskInput;
}

export interface UpdateWrite extends AnyWrite {
  kind: 'update';
  taskId: string;
  input: UpdateTaskInput;
  ifVersion?: number | undefined;
}

export interface DeleteWrite extends AnyWrite {
  kind: 'delete';
  taskId: string;
  ifVersion?: number | undefined;
}

/** A change of a task that the server has not answered yet. */
export type Write = CreateWrite | UpdateWrite | DeleteWrite;

/** What became of it. */
export interface Outcome {
  id: string;
  /** As the server has it now, or null when it is gone. */
  task: Task | null;
}

const LOCAL = 'local:';

/** The id of a task that is not created yet. */
export function localIdOf(key: string): string {
  return LOCAL + key;
}

export function isLocal(id: string): boolean {
  return id.startsWith(LOCAL);
}

/** The key of the write that creates the task; undefined for an id of the server's. */
export function keyOfLocal(id: string): string | undefined {
  return isLocal(id) ? id.slice(LOCAL.length) : undefined;
}

/** As long as a trace's id, and as hard to guess. */
export function newKey(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** Not recorded; the span is as good as any. */
export function traceparentOf({ key }: Write): string {
  return `00-${key}-${key.slice(16)}-00`;
}

/** The key of the write that made a change, when it was one of this client's kind. */
export function keyOf(traceparent: string | undefined): string | undefined {
  return traceparent?.split('-')[1];
}

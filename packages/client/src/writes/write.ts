import type { Task } from '../list/shape.ts';
import { isRecord } from '../storage.ts';
import type { CreateTaskInput, UpdateTaskInput } from '../operations.generated.ts';

interface AnyWrite {
  /** 32 hex digits: the idempotency key of a create, and the trace id with which the feed reports its change. */
  key: string;
  /** Unix milliseconds. */
  queuedAt: number;
  /** When the write was first sent. If set, it may have taken effect even without a response. */
  sentAt?: number;
}

export interface CreateWrite extends AnyWrite {
  kind: 'create';
  /** The local id of the task, until the server assigns one. */
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

/** A change of a task that the server has not confirmed yet. */
export type Write = CreateWrite | UpdateWrite | DeleteWrite;

/** The result of a write. */
export interface Outcome {
  id: string;
  /** The task's current state on the server; null if it was deleted. */
  task: Task | null;
}

const LOCAL = 'local:';

/** The id that a task has until the server has created it. */
export function localIdOf(key: string): string {
  return LOCAL + key;
}

export function isLocal(id: string): boolean {
  return id.startsWith(LOCAL);
}

/** The key of the write that creates the task; undefined for the server's ids. */
export function keyOfLocal(id: string): string | undefined {
  return isLocal(id) ? id.slice(LOCAL.length) : undefined;
}

/** Has the length of a trace id, and is as hard to guess. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID exists only on pages served over TLS
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Not sampled. The span id is arbitrary: only the trace id matters. */
export function traceparentOf({ key }: Write): string {
  return `00-${key}-${key.slice(16)}-00`;
}

/** The key of the write that made a change, if a client of this package made the change. */
export function keyOf(traceparent: string | undefined): string | undefined {
  return traceparent?.split('-')[1];
}

/** Whether a stored value has the format that this version writes. The server validates the input. */
export function isWrite(value: unknown): value is Write {
  if (!isRecord(value)) return false;
  const { key, queuedAt, sentAt, kind, taskId, input, ifVersion } = value;
  const isKind = kind === 'delete' || ((kind === 'create' || kind === 'update') && isRecord(input));
  const areTimes = [queuedAt, sentAt ?? 0].every((time) => Number.isFinite(time) && !isNaN(+new Date(time as number)));
  return isKind && areTimes && Number.isFinite(ifVersion ?? 0) && typeof key === 'string' && typeof taskId === 'string';
}

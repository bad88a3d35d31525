import type { Task, UpdateTaskInput } from '@taskmesh/client';

export const FIELDS = ['title', 'description', 'completed', 'dueDate', 'priority', 'category'] as const;
export type Field = (typeof FIELDS)[number];

/** A change that was not saved because the task changed in the meantime. The user decides what to keep. */
export interface Conflict {
  /** The id of the task. */
  id: string;
  /** The title at the time of the change. */
  title: string;
  changes: UpdateTaskInput;
  /** The current task; null if it was deleted. */
  theirs: Task | null;
  /** The fields that both sides changed to different values. */
  clashes: readonly Field[];
  /** The task at the time of the change, if known. */
  base: Task | undefined;
}

/** Returns the fields that both sides changed to different values; others can be merged. Without `base`, every difference counts. */
export function clashesOf(base: Task | undefined, changes: UpdateTaskInput, theirs: Task): Field[] {
  return FIELDS.filter((field) => {
    const mine = changes[field];
    if (mine === undefined || isSame(field, mine, theirs[field])) return false;
    return base === undefined || !isSame(field, base[field], theirs[field]);
  });
}

/** Compares due dates as times, because one time can be written in several ways. */
function isSame(field: Field, one: unknown, other: unknown): boolean {
  if (field !== 'dueDate' || typeof one !== 'string' || typeof other !== 'string') return one === other;
  return Date.parse(one) === Date.parse(other);
}

import type { Task, UpdateTaskInput } from '@taskmesh/client';

export const FIELDS = ['title', 'description', 'completed', 'dueDate', 'priority', 'category'] as const;
export type Field = (typeof FIELDS)[number];

/** A change that was not saved, because the task has changed meanwhile. The user has to decide. */
export interface Conflict {
  /** The id of the task. */
  id: string;
  /** The title when the change was made. */
  title: string;
  changes: UpdateTaskInput;
  /** The task as it is now; null when it was deleted. */
  theirs: Task | null;
  /** The fields that both sides changed to different values. */
  clashes: readonly Field[];
  /** The task when the change was made, if known. */
  base: Task | undefined;
}

/** The fields that both sides changed to different values; all others can be merged. Without a base, every difference counts. */
export function clashesOf(base: Task | undefined, changes: UpdateTaskInput, theirs: Task): Field[] {
  return FIELDS.filter((field) => {
    const mine = changes[field];
    if (mine === undefined || isSame(field, mine, theirs[field])) return false;
    return base === undefined || !isSame(field, base[field], theirs[field]);
  });
}

/** Compares due dates as times, because the same time can be written in several ways. */
function isSame(field: Field, one: unknown, other: unknown): boolean {
  if (field !== 'dueDate' || typeof one !== 'string' || typeof other !== 'string') return one === other;
  return Date.parse(one) === Date.parse(other);
}

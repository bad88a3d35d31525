import type { Task, UpdateTaskInput } from '@taskmesh/client';

export const FIELDS = ['title', 'description', 'completed', 'dueDate', 'priority', 'category'] as const;
export type Field = (typeof FIELDS)[number];

/** A change that was not made, because the task is another one by now. Somebody has to decide. */
export interface Conflict {
  /** The task's. */
  id: string;
  /** As it was called when it was changed here. */
  title: string;
  changes: UpdateTaskInput;
  /** The task as it is, or null when it is gone. */
  theirs: Task | null;
  /** What both have changed, each in another way. */
  clashes: readonly Field[];
  /** As it was when it was changed here, when that is known. */
  base: Task | undefined;
}

/** The fields that both have changed, each in another way: all others go together. Without a base every difference is one. */
export function clashesOf(base: Task | undefined, changes: UpdateTaskInput, theirs: Task): Field[] {
  return FIELDS.filter((field) => {
    const mine = changes[field];
    if (mine === undefined || isSame(field, mine, theirs[field])) return false;
    return base === undefined || !isSame(field, base[field], theirs[field]);
  });
}

/** Times have more than one form. */
function isSame(field: Field, one: unknown, other: unknown): boolean {
  if (field !== 'dueDate' || typeof one !== 'string' || typeof other !== 'string') return one === other;
  return Date.parse(one) === Date.parse(other);
}

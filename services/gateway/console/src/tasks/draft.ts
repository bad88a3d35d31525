import type { Task, UpdateTaskInput } from '@taskmesh/client';
import { dayOf, endOf } from './due.ts';

/** A task's fields in the editor: texts, empty ones for missing values. */
export interface Draft {
  title: string;
  description: string;
  /** In the format of date inputs. */
  due: string;
  priority: Task['priority'];
  category: string;
}

export function draftOf({ title, description, dueDate, priority, category }: Task): Draft {
  return {
    title,
    description: description ?? '',
    due: dueDate === null ? '' : dayOf(dueDate),
    priority,
    category: category ?? '',
  };
}

/** The changes that turn the task into the draft. A due date on the same day keeps its time. */
export function changesOf(task: Task, draft: Draft): UpdateTaskInput {
  const before = draftOf(task);
  return {
    ...(draft.title !== before.title && { title: draft.title }),
    ...(draft.description !== before.description && { description: draft.description || null }),
    ...(draft.due !== before.due && { dueDate: draft.due ? endOf(draft.due) : null }),
    ...(draft.priority !== before.priority && { priority: draft.priority }),
    ...(draft.category !== before.category && { category: draft.category || null }),
  };
}

const SHORTEST = 3;
const LONGEST = 255;

/** Checks a title by the API's rules, which count code points. */
export function problemOfTitle(title: string): string | undefined {
  const { length } = [...title];
  if (title.trim() === '') return 'A task needs a title.';
  if (length < SHORTEST) return `A title has at least ${SHORTEST} characters.`;
  if (length > LONGEST) return `A title has at most ${LONGEST} characters.`;
  return undefined;
}

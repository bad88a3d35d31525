import type { Task, UpdateTaskInput } from '@taskmesh/client';
import { dayOf, endOf } from './due.ts';

/** A task's fields as the editor's inputs have them: an empty text means no value. */
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

/** Returns the changes that turn the task into the draft. A due date on the same day keeps its time. */
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

const MIN_TITLE_LENGTH = 3;
const MAX_TITLE_LENGTH = 255;

/** Validates a title by the rules of the API, which count code points. */
export function problemOfTitle(title: string): string | undefined {
  const { length } = [...title];
  if (title.trim() === '') return 'A task needs a title.';
  if (length < MIN_TITLE_LENGTH) return `A title has at least ${MIN_TITLE_LENGTH} characters.`;
  if (length > MAX_TITLE_LENGTH) return `A title has at most ${MAX_TITLE_LENGTH} characters.`;
  return undefined;
}

export function problemOfNotes(notes: string): string | undefined {
  return [...notes].length > 2_000 ? 'Notes have at most 2,000 characters.' : undefined;
}

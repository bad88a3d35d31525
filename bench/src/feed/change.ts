import type { TaskChanged } from '@taskmesh/contracts';
import { newId } from '../bare/tasks.ts';
import { taskInput } from '../load/population.ts';

/** What the n-th change's task is called: the number is found again in whatever a protocol makes of it. */
export function titleOf(n: number): string {
  return `#${n}# Prepare the report of this week`;
}

/** The n-th change as the store's relay would publish it: a new task. */
export function createdTask(ownerId: string, n: number, sequence: number, cursor = CURSOR): TaskChanged {
  const now = new Date().toISOString();
  const { description, dueDate, category } = taskInput(n);
  const task = { id: newId(), ownerId, title: titleOf(n), description, completed: false, dueDate, category };
  return {
    id: String(n),
    epoch: 1,
    ownerId,
    sequence,
    kind: 'INSERT',
    task: { ...task, priority: 'medium', createdAt: now, updatedAt: now, version: 1 },
    previous: null,
    occurredAt: now,
    cursor,
  };
}

/** As long as a real one. */
const CURSOR = 'x'.repeat(64);

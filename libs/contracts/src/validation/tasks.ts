import { z } from 'zod';
import { choice, isBlank, text } from './text.ts';
import { timestamp } from './timestamp.ts';

export const PRIORITIES = ['low', 'medium', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

const title = text('title', { min: 3, max: 255 }).refine((value) => !isBlank(value), 'title must not be blank.');
const description = text('description', { max: 2_000 });
const category = text('category', { max: 255 });
const dueDate = timestamp('dueDate');
const priority = choice('priority', PRIORITIES);
const completed = z.boolean('completed must be true or false.');

/** A new task. `null` counts as absent for optional fields; unknown fields are dropped. */
export const createTaskInput = z.object({
  title,
  description: description.nullish(),
  dueDate: dueDate.nullish(),
  category: category.nullish(),
  priority: priority.default('medium'),
  completed: completed.default(false),
});
export type CreateTask = z.output<typeof createTaskInput>;

/** An update of a task: absent fields stay unchanged, `null` clears optional ones, unknown ones are dropped. */
export const updateTaskInput = z.object({
  title: title.optional(),
  description: description.nullish(),
  dueDate: dueDate.nullish(),
  category: category.nullish(),
  priority: priority.optional(),
  completed: completed.optional(),
});
export type UpdateTask = z.output<typeof updateTaskInput>;

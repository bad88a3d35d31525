import type { TaskFieldsFragment, TaskFilter, TaskOrder, TaskPriority } from '../operations.generated.ts';

export type Task = TaskFieldsFragment;

/** Which tasks a list has, and in which order. */
export interface Shape {
  filter: TaskFilter;
  order: Required<TaskOrder>;
}

export function shapeOf(filter: TaskFilter = {}, order: TaskOrder = {}): Shape {
  return { filter, order: { field: 'CREATED_AT', direction: 'DESC', ...order } };
}

/** As on the server: absent and null both mean any value. */
export function matches(task: Task, { completed, category, priority }: TaskFilter): boolean {
  return (
    (completed == null || task.completed === completed) &&
    (category == null || task.category === category) &&
    (priority == null || task.priority === priority)
  );
}

const RANKS: Record<TaskPriority, number> = { LOW: 0, MEDIUM: 1, HIGH: 2 };

/**
 * As on the server: tasks without a due date come last in both directions; age and then id break ties, in the same
 * direction. The API's times and ids each have only one form, so they compare as texts.
 */
export function comparatorOf({ field, direction }: Required<TaskOrder>): (one: Task, other: Task) => number {
  const sign = direction === 'ASC' ? 1 : -1;
  const never = direction === 'ASC' ? '~' : ''; // after, or before, every time
  const keyOf: (task: Task) => string | number = {
    CREATED_AT: ({ createdAt }: Task) => createdAt,
    UPDATED_AT: ({ updatedAt }: Task) => updatedAt,
    DUE_DATE: ({ dueDate }: Task) => dueDate ?? never,
    PRIORITY: ({ priority }: Task) => RANKS[priority],
  }[field];
  return (one, other) =>
    sign * (compare(keyOf(one), keyOf(other)) || compare(one.createdAt, other.createdAt) || compare(one.id, other.id));
}

function compare<Key extends string | number>(one: Key, other: Key): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

import type { TaskFieldsFragment, TaskFilter, TaskOrder, TaskPriority } from '../operations.generated.ts';

export type Task = TaskFieldsFragment;

/** The filter and order of a list. */
export interface Shape {
  filter: TaskFilter;
  order: Required<TaskOrder>;
}

export function shapeOf(filter: TaskFilter = {}, order: TaskOrder = {}): Shape {
  return { filter, order: { field: 'CREATED_AT', direction: 'DESC', ...order } };
}

/** Follows the server's rule: absent and null both match any value. */
export function matches(task: Task, { completed, category, priority }: TaskFilter): boolean {
  return (
    (completed == null || task.completed === completed) &&
    (category == null || task.category === category) &&
    (priority == null || task.priority === priority)
  );
}

const RANKS: Record<TaskPriority, number> = { LOW: 0, MEDIUM: 1, HIGH: 2 };

/**
 * Follows the server's order: tasks without a due date come last in both directions; creation time and then id break ties, in
 * the same direction. Times and ids from the API are in canonical form, so they compare as strings.
 */
export function comparatorOf({ field, direction }: Required<TaskOrder>): (one: Task, other: Task) => number {
  const sign = direction === 'ASC' ? 1 : -1;
  const never = direction === 'ASC' ? '~' : ''; // sorts after, or before, every time
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

import type { TaskChanged, TaskImage } from '@taskmesh/contracts';

export type ChangeEvent = ReturnType<typeof toEvent>;

const events = new WeakMap<TaskChanged, ChangeEvent>();

/** A change as the graph's `TaskChange`, exactly as the tasks service would return it: one object per change. */
export function toChangeEvent(change: TaskChanged): ChangeEvent {
  const event = events.get(change) ?? toEvent(change);
  events.set(change, event);
  return event;
}

function toEvent({ cursor, sequence, kind, task, previous, occurredAt }: TaskChanged) {
  return {
    __typename: 'TaskChange',
    cursor,
    sequence,
    kind,
    occurredAt,
    task: toTask(task),
    previous: previous && toTask(previous),
  };
}

function toTask({ ownerId, priority, ...task }: TaskImage) {
  return {
    __typename: 'Task',
    ...task,
    priority: priority.toUpperCase(),
    owner: { __typename: 'User', id: ownerId },
  };
}

/** True when the task matched the filter before or matches it now, so that leaving a list is reported, too. */
export function concerns({ task, previous }: TaskChanged, filter: TaskFilter): boolean {
  return matches(task, filter) || (previous !== null && matches(previous, filter));
}

/** The graph's `TaskFilter`. Absent and null both mean any value. */
export interface TaskFilter {
  completed?: boolean | null;
  category?: string | null;
  /** The enum's name: LOW, MEDIUM or HIGH. */
  priority?: string | null;
}

function matches(task: TaskImage, { completed, category, priority }: TaskFilter): boolean {
  return (
    (completed == null || task.completed === completed) &&
    (category == null || task.category === category) &&
    (priority == null || task.priority === priority.toLowerCase())
  );
}

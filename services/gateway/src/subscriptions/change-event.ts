import type { TaskChanged, TaskImage } from '@taskmesh/events';
import { matches, type TaskFilter } from './task-filter.ts';

/** A change in the form of the graph's `TaskChange`: whatever the tasks service would answer for it, without asking it. */
export type ChangeEvent = ReturnType<typeof eventOf>;

const events = new WeakMap<TaskChanged, ChangeEvent>();

/** The same object for the same change: all that render it share it. */
export function toChangeEvent(change: TaskChanged): ChangeEvent {
  const known = events.get(change);
  if (known) return known;
  const event = eventOf(change);
  events.set(change, event);
  return event;
}

function eventOf({ cursor, sequence, kind, task, previous, occurredAt }: TaskChanged) {
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

/** A change concerns a filtered list when its task was in it before or is in it now; so leaving it is told, too. */
export function concerns({ task, previous }: TaskChanged, filter: TaskFilter): boolean {
  return matches(task, filter) || (previous !== null && matches(previous, filter));
}

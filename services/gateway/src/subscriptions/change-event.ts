import { GRAPH_FIELDS, type TaskChanged, type TaskImage } from '@taskmesh/contracts';

/** What an event contains; any other selected field has to be fetched. */
export const EVENT_CONTENTS = {
  fields: {
    Subscription: new Set(['taskChanges']),
    TaskChange: new Set(['cursor', 'sequence', 'kind', 'task', 'previous', 'occurredAt']),
    Task: new Set(['owner', ...GRAPH_FIELDS]),
    User: new Set(['id']),
  },
  keys: { Task: ['id'], User: ['id'] },
};

type EventRoot = ReturnType<typeof toRoot>;

const roots = new WeakMap<TaskChanged, EventRoot>();

/** A change as the graph's `TaskChange`, exactly as the tasks service would return it: one object per change. */
export function toEventRoot(change: TaskChanged): EventRoot {
  const root = roots.get(change) ?? toRoot(change);
  roots.set(change, root);
  return root;
}

const toRoot = (change: TaskChanged) => ({ taskChanges: toEvent(change) });

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

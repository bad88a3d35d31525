import { GRAPH_FIELDS, type TaskChanged, type TaskImage } from '@taskmesh/contracts';
import { coerceVariables, type PreparedOperation } from '@taskmesh/federation';
import { getArgumentValues, getNamedType, GraphQLError, isObjectType, Kind } from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';

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

/** The arguments of a subscription to `taskChanges`. @throws GraphQLError */
export function readArguments(prepared: PreparedOperation, raw: Record<string, unknown>) {
  const { schema, document, operation } = prepared;
  const variables = coerceVariables(prepared, raw);
  const fragments = Object.fromEntries(
    document.definitions
      .filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const root = schema.getSubscriptionType();
  const field = root?.getFields()['taskChanges'];
  const type = getNamedType(field?.type);
  // A subscription has a single root field, which may be in a fragment, or be repeated.
  const [nodes = []] = root ? collectFields(schema, fragments, variables, root, operation.selectionSet).values() : [];
  const [node] = nodes;
  if (!field || node?.name.value !== 'taskChanges' || !isObjectType(type))
    throw new GraphQLError('Only taskChanges can be subscribed to.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  const { after, filter } = getArgumentValues(field, node, variables);
  const selected = [...collectSubfields(schema, fragments, variables, type, nodes).values()];
  const hasCursors = selected.some(([first]) => first?.name.value === 'cursor');
  return {
    after: typeof after === 'string' ? after : undefined,
    /** The document has `after` and selects `cursor`, so its client can resume from the last event. */
    canResume: (node.arguments?.some(({ name }) => name.value === 'after') ?? false) && hasCursors,
    filter: filter ? (filter as TaskFilter) : undefined, // coerced by the schema
    variables,
  };
}

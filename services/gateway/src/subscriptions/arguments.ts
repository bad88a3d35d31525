import { getArgumentValues, GraphQLError, Kind, type FieldNode, type SelectionSetNode } from 'graphql';
import type { PreparedOperation } from '../graph/executor.ts';
import { coerceVariables } from '../graph/variables.ts';
import type { TaskFilter } from './task-filter.ts';

export interface SubscriptionArguments {
  after: string | undefined;
  /** The document has `after` and selects `cursor`: its client can go on from the last event. */
  canResume: boolean;
  filter: TaskFilter | undefined;
  variables: Record<string, unknown>;
}

/** The arguments of a subscription to `taskChanges`. @throws GraphQLError */
export function readArguments(prepared: PreparedOperation, raw: Record<string, unknown>): SubscriptionArguments {
  const { schema, operation } = prepared;
  const variables = coerceVariables(prepared, raw);
  const field = schema.getSubscriptionType()?.getFields()['taskChanges'];
  const node = operation.selectionSet.selections.find((selection) => selection.kind === 'Field');
  if (!field || node?.name.value !== 'taskChanges')
    throw new GraphQLError('Only taskChanges can be subscribed to, selected as a field of its own.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  const { after, filter } = getArgumentValues(field, node, variables);
  return {
    after: typeof after === 'string' ? after : undefined,
    canResume: (node.arguments?.some(({ name }) => name.value === 'after') ?? false) && tellsCursor(prepared, node),
    filter: filter ? (filter as TaskFilter) : undefined, // coerced by the schema
    variables,
  };
}

/** Whether each event has its cursor, whatever the variables are. */
function tellsCursor({ document }: PreparedOperation, { selectionSet }: FieldNode): boolean {
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  const isIn = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => {
      if (selection.directives?.length) return false;
      if (selection.kind === Kind.FIELD) return selection.name.value === 'cursor';
      if (selection.kind === Kind.INLINE_FRAGMENT) return isIn(selection.selectionSet);
      return isIn(fragments.find(({ name }) => name.value === selection.name.value)?.selectionSet);
    }) ?? false;
  return isIn(selectionSet);
}

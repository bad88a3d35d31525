import { getArgumentValues, GraphQLError } from 'graphql';
import type { PreparedOperation } from '../graph/executor.ts';
import { coerceVariables } from '../graph/variables.ts';
import type { TaskFilter } from './task-filter.ts';

export interface SubscriptionArguments {
  after: string | undefined;
  /** The document has `after`: its client can go on from a cursor. */
  takesCursor: boolean;
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
    takesCursor: node.arguments?.some(({ name }) => name.value === 'after') ?? false,
    filter: filter ? (filter as TaskFilter) : undefined, // coerced by the schema
    variables,
  };
}

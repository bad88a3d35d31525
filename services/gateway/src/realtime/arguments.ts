import { getArgumentValues, getVariableValues, GraphQLError } from 'graphql';
import type { PreparedOperation } from '../graph/executor.ts';
import type { TaskFilter } from './task-filter.ts';

const MAX_VARIABLE_ERRORS = 10;

export interface SubscriptionArguments {
  after: string | undefined;
  filter: TaskFilter | undefined;
  /** All variables, coerced. */
  variables: Record<string, unknown>;
}

/** What a subscription to `taskChanges` was given. @throws GraphQLError */
export function readArguments(
  { schema, operation }: PreparedOperation,
  raw: Record<string, unknown>,
): SubscriptionArguments {
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], raw, {
    maxErrors: MAX_VARIABLE_ERRORS,
  });
  if (coerced.errors) throw badInput(coerced.errors[0]);
  const field = schema.getSubscriptionType()?.getFields()['taskChanges'];
  const node = operation.selectionSet.selections.find((selection) => selection.kind === 'Field');
  if (!field || node?.name.value !== 'taskChanges')
    throw new GraphQLError('Only taskChanges can be subscribed to, selected as a field of its own.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  const { after, filter } = getArgumentValues(field, node, coerced.coerced);
  return {
    after: typeof after === 'string' ? after : undefined,
    filter: filter ? (filter as TaskFilter) : undefined, // coerced by the schema
    variables: coerced.coerced,
  };
}

function badInput(error: GraphQLError | undefined): GraphQLError {
  return new GraphQLError(error?.message ?? 'Bad variables.', { extensions: { code: 'BAD_USER_INPUT' } });
}

import { coerceVariables, type PreparedOperation } from '@taskmesh/federation';
import { getArgumentValues, getNamedType, GraphQLError, isObjectType, Kind } from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import type { TaskFilter } from './change-event.ts';

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

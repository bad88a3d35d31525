import {
  getArgumentValues,
  GraphQLError,
  Kind,
  type FieldNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  type SelectionSetNode,
} from 'graphql';
import type { PreparedOperation } from '../supergraph/operation.ts';
import { coerceVariables } from '../supergraph/variables.ts';
import type { TaskFilter } from './change-event.ts';

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
  const node = rootField(prepared, operation.selectionSet);
  if (!field || node?.name.value !== 'taskChanges')
    throw new GraphQLError('Only taskChanges can be subscribed to.', {
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

/** A subscription has a single one, wherever it stands and however often. */
function rootField(prepared: PreparedOperation, { selections }: SelectionSetNode): FieldNode | undefined {
  for (const selection of selections) {
    const field = selection.kind === Kind.FIELD ? selection : rootField(prepared, selectionsOf(prepared, selection));
    if (field) return field;
  }
  return undefined;
}

/** Whether each event has its cursor, whatever the variables are. */
function tellsCursor(prepared: PreparedOperation, { selectionSet }: FieldNode): boolean {
  const isIn = ({ selections }: SelectionSetNode): boolean =>
    selections.some((selection) => {
      if (selection.directives?.length) return false;
      if (selection.kind === Kind.FIELD) return selection.name.value === 'cursor';
      return isIn(selectionsOf(prepared, selection));
    });
  return isIn(selectionSet ?? NOTHING);
}

const NOTHING: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: [] };

function selectionsOf(
  { document }: PreparedOperation,
  fragment: InlineFragmentNode | FragmentSpreadNode,
): SelectionSetNode {
  if (fragment.kind === Kind.INLINE_FRAGMENT) return fragment.selectionSet;
  const named = document.definitions.find(
    (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === fragment.name.value,
  );
  return named && 'selectionSet' in named ? named.selectionSet : NOTHING;
}

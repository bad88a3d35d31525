import type { SpanDescription } from '@taskmesh/telemetry';
import { Kind, type OperationDefinitionNode } from 'graphql';

/**
 * What a trace tells of an operation: which fields of our schema it asks for. Documents and names are the client's; only one
 * that is ours is given as `name`.
 */
export function operationSpan(
  { operation: type, selectionSet }: OperationDefinitionNode,
  name?: string,
): SpanDescription {
  const fields = selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
  return {
    name: name ? `${type} ${name}` : type,
    attributes: {
      'graphql.operation.type': type,
      'graphql.operation.name': name,
      'taskmesh.graphql.fields': [...new Set(fields)],
    },
  };
}

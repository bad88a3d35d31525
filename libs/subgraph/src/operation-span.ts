import type { SpanDescription } from '@taskmesh/telemetry';
import { Kind, type OperationDefinitionNode } from 'graphql';

/**
 * The span of an operation, with the fields of our schema that it selects. Documents and operation names belong to
 * clients; `name` is given only for operations of our own.
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

import type { SpanDescription } from '@taskmesh/service';
import { Kind, type OperationDefinitionNode } from 'graphql';

/** The span of an operation, with the fields of our schema that it selects. Documents and operation names belong to clients. */
export function operationSpan({ operation: type, selectionSet }: OperationDefinitionNode): SpanDescription {
  const fields = selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
  return {
    name: type,
    attributes: { 'graphql.operation.type': type, 'taskmesh.graphql.fields': [...new Set(fields)] },
  };
}

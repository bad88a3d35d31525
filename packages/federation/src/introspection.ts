import { executeSync, Kind, visit, type FieldNode, type SelectionSetNode } from 'graphql';
import type { ClientOperation } from './operation/client-operation.ts';

/** Resolves a `__schema` or `__type` field. */
export type Introspect = (variables: Readonly<Record<string, unknown>>) => unknown;

/** Results are not cached: they are large, and clients rarely repeat the query. */
export function compileIntrospection(
  { schema, definition, fragments }: ClientOperation,
  nodes: readonly FieldNode[],
): Introspect {
  const used = new Set<string>();
  for (const node of [...nodes, ...Object.values(fragments)])
    visit(node, { Variable: ({ name }) => void used.add(name.value) });
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: nodes };
  const variableDefinitions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
    used.has(variable.name.value),
  );
  const introspection = {
    ...definition,
    operation: 'query' as typeof definition.operation,
    variableDefinitions,
    selectionSet,
  };
  const document = { kind: Kind.DOCUMENT, definitions: [introspection, ...Object.values(fragments)] } as const;
  const key = nodes[0]?.alias?.value ?? nodes[0]?.name.value ?? '';
  return (variableValues) => executeSync({ schema, document, rootValue: {}, variableValues }).data?.[key] ?? null;
}

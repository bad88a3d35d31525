import { executeSync, Kind, visit, type FieldNode, type SelectionSetNode } from 'graphql';
import type { ClientOperation } from './operation/client-operation.ts';

/** Answers a `__schema` or `__type` field. */
export type Introspect = (variables: Readonly<Record<string, unknown>>) => unknown;

/** Answers that do not depend on variables are computed once. */
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
  const introspect: Introspect = (variableValues) =>
    executeSync({ schema, document, rootValue: {}, variableValues }).data?.[key] ?? null;
  if (variableDefinitions.length > 0) return introspect;
  let known: unknown;
  return () => (known ??= introspect({}));
}

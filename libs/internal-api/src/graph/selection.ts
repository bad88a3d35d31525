import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type FieldNode,
  type GraphQLResolveInfo,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Whether the operation selects this field of the value being resolved, under any alias; with a longer path, a field below it. */
export function selects({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo, ...path: string[]): boolean {
  const isWanted = (node: SelectionNode) =>
    !node.directives?.length ||
    (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false);

  const fieldsOf = (set: SelectionSetNode | undefined, name: string): FieldNode[] =>
    (set?.selections ?? []).filter(isWanted).flatMap((node): FieldNode[] => {
      if (node.kind === Kind.FIELD) return node.name.value === name ? [node] : [];
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      return fieldsOf(inner?.selectionSet, name);
    });

  let nodes: readonly FieldNode[] = fieldNodes;
  for (const name of path) nodes = nodes.flatMap(({ selectionSet }) => fieldsOf(selectionSet, name));
  return nodes.length > 0;
}

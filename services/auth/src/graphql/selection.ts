import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type GraphQLResolveInfo,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Whether the operation selects this field of the value being resolved, under any alias. */
export function selects(info: GraphQLResolveInfo, field: string): boolean {
  const isWanted = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, info.variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, info.variableValues)?.if !== false;

  const contains = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((node) => isWanted(node) && isOrContains(node)) ?? false;

  const isOrContains = (node: SelectionNode): boolean => {
    switch (node.kind) {
      case Kind.FIELD:
        return node.name.value === field;
      case Kind.INLINE_FRAGMENT:
        return contains(node.selectionSet);
      case Kind.FRAGMENT_SPREAD:
        return contains(info.fragments[node.name.value]?.selectionSet);
    }
  };

  return info.fieldNodes.some((node) => contains(node.selectionSet));
}

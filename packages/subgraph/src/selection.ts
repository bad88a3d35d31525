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

/** A path in the result, such as `.edges.node`, with a field that is selected there. */
type Selected = readonly [at: string, node: FieldNode];

/**
 * Whether the operation selects the field at `path`, under any aliases, below the value being resolved: `selects(info, 'pageInfo',
 * 'hasNextPage')`. `@skip`, `@include` and fragments are applied; a fragment counts with any type condition.
 */
export function selects(info: GraphQLResolveInfo, ...path: string[]): boolean {
  return selectedAt(info, path).length > 0;
}

/**
 * How often the operation selects the same scalar field of the values at `path`, counting all aliases of the field and of the path:
 * the result may hold such a value that many times. At least 1.
 */
export function countSelections(info: GraphQLResolveInfo, ...path: string[]): number {
  const paths = new Map<string, Set<string>>();
  for (const [at, { name, selectionSet }] of selectedBelow(info, selectedAt(info, path)))
    if (!selectionSet) paths.set(name.value, (paths.get(name.value) ?? new Set()).add(at));
  return Math.max(1, ...[...paths.values()].map(({ size }) => size));
}

function selectedAt(info: GraphQLResolveInfo, path: readonly string[]): readonly Selected[] {
  let found: readonly Selected[] = info.fieldNodes.map((node) => ['', node]);
  for (const name of path) found = selectedBelow(info, found).filter(([, node]) => node.name.value === name);
  return found;
}

function selectedBelow({ fragments, variableValues }: GraphQLResolveInfo, selected: readonly Selected[]): Selected[] {
  const isIncluded = (node: SelectionNode) =>
    !node.directives?.length ||
    (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false);

  const fieldsOf = (set: SelectionSetNode | undefined, visited: Set<string>): FieldNode[] =>
    (set?.selections ?? []).filter(isIncluded).flatMap((node): FieldNode[] => {
      if (node.kind === Kind.FIELD) return [node];
      if (node.kind === Kind.INLINE_FRAGMENT) return fieldsOf(node.selectionSet, visited);
      const { value: name } = node.name;
      return visited.has(name) ? [] : fieldsOf(fragments[name]?.selectionSet, visited.add(name));
    });

  return selected.flatMap(([at, { selectionSet }]) =>
    fieldsOf(selectionSet, new Set()).map((node): Selected => [`${at}.${(node.alias ?? node.name).value}`, node]),
  );
}

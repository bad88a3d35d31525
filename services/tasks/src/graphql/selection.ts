import { Kind, type FieldNode, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';

type Fragments = GraphQLResolveInfo['fragments'];

/** Documents are parsed once and reused, so the selections of their fields can be cached. */
const known = new WeakMap<FieldNode, Set<string>>();

/**
 * The names of the selected fields, two levels deep, with dots between levels. Fields under `@skip` and `@include`
 * count as selected: at worst something is computed in vain.
 */
export function selectedFields({ fieldNodes, fragments }: GraphQLResolveInfo): Set<string> {
  const [only, ...others] = fieldNodes;
  if (only && others.length === 0) {
    const names = known.get(only) ?? collect([only], fragments);
    known.set(only, names);
    return names;
  }
  return collect(fieldNodes, fragments);
}

function collect(fields: readonly FieldNode[], fragments: Fragments): Set<string> {
  const names = new Set<string>();
  for (const child of childrenOf(fields, fragments)) {
    names.add(child.name.value);
    for (const grandchild of childrenOf([child], fragments)) names.add(`${child.name.value}.${grandchild.name.value}`);
  }
  return names;
}

function childrenOf(fields: readonly FieldNode[], fragments: Fragments): FieldNode[] {
  return fields.flatMap(({ selectionSet }) => (selectionSet ? fieldsOf(selectionSet, fragments) : []));
}

function fieldsOf(selectionSet: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selectionSet.selections.flatMap((selection): FieldNode[] => {
    switch (selection.kind) {
      case Kind.FIELD:
        return [selection];
      case Kind.INLINE_FRAGMENT:
        return fieldsOf(selection.selectionSet, fragments);
      case Kind.FRAGMENT_SPREAD: {
        const fragment = fragments[selection.name.value];
        return fragment ? fieldsOf(fragment.selectionSet, fragments) : [];
      }
    }
  });
}

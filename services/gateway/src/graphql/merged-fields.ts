import { Kind, print, visit, type DocumentNode, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * Merges equal selections within a set, whatever their directives are. The fields of the result overlap exactly if those of
 * `document` do. Without this, the check for that would compare all pairs of equal fields, and give up at a few hundred.
 */
export function withFieldsMerged(document: DocumentNode): DocumentNode {
  return visit(document, { SelectionSet: mergeSelections });
}

function mergeSelections(set: SelectionSetNode): SelectionSetNode | undefined {
  const groups = Map.groupBy(set.selections, keyOf);
  if (groups.size === set.selections.length) return undefined;
  return { ...set, selections: [...groups.values()].map(together) };
}

/** Everything about a selection except its directives and its own selection set. */
function keyOf(selection: SelectionNode): string {
  const { directives: _, ...bare } = selection;
  if (bare.kind === Kind.FRAGMENT_SPREAD || !bare.selectionSet) return print(bare);
  const { selectionSet: _set, ...head } = bare;
  return `${print(head as SelectionNode)} {`;
}

function together(equals: readonly SelectionNode[]): SelectionNode {
  const [first] = equals as readonly [SelectionNode, ...SelectionNode[]]; // no group is empty
  if (first.kind === Kind.FRAGMENT_SPREAD || !first.selectionSet || equals.length === 1) return first;
  const selections = equals.flatMap((each) => ('selectionSet' in each ? (each.selectionSet?.selections ?? []) : []));
  return { ...first, selectionSet: { ...first.selectionSet, selections } };
}

import { Kind, print, visit, type DocumentNode, type SelectionNode, type SelectionSetNode } from 'graphql';

/**
 * Merges equal selections within a set, as execution does. The result is valid exactly if `document` is. Without this,
 * the check for overlapping fields would compare all pairs of equal fields, and give up at a few hundred.
 */
export function withFieldsMerged(document: DocumentNode): DocumentNode {
  return visit(document, { SelectionSet: mergeSelections });
}

function mergeSelections(set: SelectionSetNode): SelectionSetNode | undefined {
  const groups = Map.groupBy(set.selections, keyOf);
  if (groups.size === set.selections.length) return undefined;
  return { ...set, selections: [...groups.values()].map(together) };
}

/** Everything about a selection except its own selection set. */
function keyOf(selection: SelectionNode): string {
  if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) return print(selection);
  const { selectionSet: _, ...head } = selection;
  return `${print(head as SelectionNode)} {`;
}

function together(equals: readonly SelectionNode[]): SelectionNode {
  const [first] = equals as readonly [SelectionNode, ...SelectionNode[]]; // no group is empty
  if (first.kind === Kind.FRAGMENT_SPREAD || !first.selectionSet || equals.length === 1) return first;
  const selections = equals.flatMap((each) => ('selectionSet' in each ? (each.selectionSet?.selections ?? []) : []));
  return { ...first, selectionSet: { ...first.selectionSet, selections } };
}

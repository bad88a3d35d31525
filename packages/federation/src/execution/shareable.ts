import type { FetchNode } from '@apollo/query-planner';
import { Kind, parse, type SelectionSetNode } from 'graphql';
import type { DataPath } from './data-paths.ts';
import type { PlannedFetch } from './plan-fetches.ts';

/**
 * Whether parts of one answer may be shared by several places: not if another fetch, at the same time or later, could
 * give these parts different content in each.
 */
export function isShareable(fetch: PlannedFetch, all: readonly PlannedFetch[]): boolean {
  const parts = compositeKeys(fetch.node).own;
  if (parts.size === 0) return true;
  return !all.some((other) => {
    if (other === fetch || fetch.after.has(other) || !isPrefix(other.path, fetch.path)) return false;
    const { own, deep } = compositeKeys(other.node);
    const known = other.path.length === fetch.path.length ? own : deep;
    return [...parts].some((key) => known.has(key));
  });
}

function isPrefix(path: DataPath, of: DataPath): boolean {
  return path.every((step, index) => of[index] === step);
}

/** The keys under which a fetch adds objects or lists of them: directly to its target, and at any depth below. */
interface CompositeKeys {
  own: Set<string>;
  deep: Set<string>;
}

const known = new WeakMap<FetchNode, CompositeKeys>();

function compositeKeys(node: FetchNode): CompositeKeys {
  let keys = known.get(node);
  if (!keys) known.set(node, (keys = readCompositeKeys(node)));
  return keys;
}

function readCompositeKeys({ operation }: FetchNode): CompositeKeys {
  const [own, deep] = [new Set<string>(), new Set<string>()];
  const visitSet = ({ selections }: SelectionSetNode, isOwn: boolean) => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) continue;
      const isField = selection.kind === Kind.FIELD;
      // The fields of `_entities` count as the fetch's own.
      const isWrapper = isField && selection.name.value === '_entities';
      if (isField && !isWrapper) {
        const key = selection.alias?.value ?? selection.name.value;
        deep.add(key);
        if (isOwn) own.add(key);
      }
      visitSet(selection.selectionSet, isOwn && (!isField || isWrapper));
    }
  };
  for (const definition of parse(operation, { noLocation: true }).definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION)
      visitSet(definition.selectionSet, true);
  return { own, deep };
}

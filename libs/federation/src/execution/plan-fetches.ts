import type { FetchNode, PlanNode } from '@apollo/query-planner';
import { Kind, parse, type SelectionSetNode } from 'graphql';
import type { DataPath } from './places.ts';

/** A fetch of a plan, where it stands in it. */
export interface PlannedFetch {
  node: FetchNode;
  path: DataPath;
  /** Steps of the plan: what ends before another begins has nothing to do with it. */
  begins: number;
  ends: number;
}

/** All fetches of a plan. @throws Error for what this executor has no way to do */
export function fetchesOf(node: PlanNode, path: DataPath = [], begins = 0): PlannedFetch[] {
  switch (node.kind) {
    case 'Fetch':
      return [{ node, path, begins, ends: begins + 1 }];
    case 'Flatten':
      return fetchesOf(node.node, [...path, ...dataPath(node.path)], begins);
    case 'Sequence': {
      let time = begins;
      return node.nodes.flatMap((each) => {
        const fetches = fetchesOf(each, path, time);
        time = Math.max(time, ...fetches.map(({ ends }) => ends));
        return fetches;
      });
    }
    case 'Parallel':
      return node.nodes.flatMap((each) => fetchesOf(each, path, begins));
    case 'Condition':
      return [node.ifClause, node.elseClause].flatMap((each) => (each ? fetchesOf(each, path, begins) : []));
    case 'Defer':
      throw new Error('This executor does not defer.');
  }
}

function dataPath(path: readonly (string | number)[]): DataPath {
  return path.map((step) => {
    if (typeof step === 'string' && !step.includes('|[')) return step;
    throw new Error('The plan has a path that depends on types.');
  });
}

/**
 * Whether parts of one answer may stand in several places: unless another fetch, at the same time or later, can tell different
 * things of these parts.
 */
export function isShareable(fetch: PlannedFetch, all: readonly PlannedFetch[]): boolean {
  const parts = compositeKeys(fetch.node).own;
  if (parts.size === 0) return true;
  return !all.some((other) => {
    if (other === fetch || other.ends <= fetch.begins || !isPrefix(other.path, fetch.path)) return false;
    const { own, deep } = compositeKeys(other.node);
    const told = other.path.length === fetch.path.length ? own : deep;
    return [...parts].some((key) => told.has(key));
  });
}

function isPrefix(path: DataPath, of: DataPath): boolean {
  return path.every((step, index) => of[index] === step);
}

/** Under which keys a fetch brings objects or lists of them: to what it is about, and to anything below. */
function compositeKeys({ operation }: FetchNode): { own: Set<string>; deep: Set<string> } {
  const [own, deep] = [new Set<string>(), new Set<string>()];
  const visitSet = ({ selections }: SelectionSetNode, isOwn: boolean) => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) continue;
      const isField = selection.kind === Kind.FIELD;
      // An entity's fields are the own ones of its fetch.
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

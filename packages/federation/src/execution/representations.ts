import type { FetchNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import type { Data } from '../projection/data.ts';
import { copyOf, merge } from './merge.ts';
import { compileRewrites } from './rewrites.ts';
import type { IsOfType } from './type-conditions.ts';

/** By what a service knows an object; undefined when it cannot be asked about it. */
export type Represent = (object: Data) => Data | undefined;

/** Its fragments depend only on the object's type. */
type Selection = readonly QueryPlanSelectionNode[];

export function compileRepresentations(
  { requires = [], inputRewrites }: Pick<FetchNode, 'requires' | 'inputRewrites'>,
  isOfType: IsOfType,
): Represent {
  const rewrite = compileRewrites(inputRewrites, isOfType);
  return (object) => {
    const representation = select(object, requires, isOfType);
    if (!representation?.__typename) return undefined;
    rewrite?.(representation);
    return representation;
  };
}

/** Shares no object with the data, which later answers change. Null when a field is missing. */
function select(object: Data, selection: Selection, isOfType: IsOfType): Data | null {
  const result: Data = {};
  for (const node of selection) {
    if (node.kind === 'InlineFragment') {
      if (node.typeCondition === undefined || !isOfType(object.__typename, node.typeCondition)) continue;
      const selected = select(object, node.selections, isOfType);
      if (selected) merge(result, selected);
      continue;
    }
    const key = node.alias ?? node.name;
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined) return null;
    result[key] = node.selections ? selectBelow(value, node.selections, isOfType) : copyOf(value);
  }
  return result;
}

function selectBelow(value: unknown, selection: Selection, isOfType: IsOfType): unknown {
  if (Array.isArray(value)) return value.map((item) => selectBelow(item, selection, isOfType));
  return typeof value === 'object' && value !== null ? select(value as Data, selection, isOfType) : null;
}

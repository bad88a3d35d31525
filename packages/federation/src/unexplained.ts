import type { ServiceError } from './execution/errors.ts';
import type { Incompleteness } from './projection/build-value.ts';

/**
 * What services omitted, and no error explains. An error explains everything that is missing at its place and below, and what is missing
 * beside it: where nothing may be null, a service omits the whole object. Without a place it may be the reason for anything.
 */
export function unexplained(
  incomplete: readonly Incompleteness[],
  errors: readonly ServiceError[],
): readonly Incompleteness[] {
  if (incomplete.length === 0) return incomplete;
  const failed = new Set(errors.map(({ path = [] }) => JSON.stringify(path)));
  const leading = new Set(errors.flatMap(({ path = [] }) => startsOf(path)));
  return incomplete.filter(({ path }) => {
    const around = path.slice(0, -1);
    return !leading.has(JSON.stringify(around)) && !startsOf(around).some((start) => failed.has(start));
  });
}

/** The path itself and all that lead to it. */
function startsOf(path: Incompleteness['path']): string[] {
  return [...path, ''].map((_step, length) => JSON.stringify(path.slice(0, length)));
}

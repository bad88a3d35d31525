import type { ServiceError } from './execution/errors.ts';
import type { Incompleteness } from './projection/build-value.ts';

/** A place of the result, or one that leads to some. */
interface Place {
  hasError: boolean;
  below: Map<string | number, Place>;
}

/**
 * What services omitted, and no error explains. An error explains everything that is missing at its place and below, and what is missing
 * beside it: where nothing may be null, a service omits the whole object. Without a place it may be the reason for anything.
 */
export function unexplained(
  incomplete: readonly Incompleteness[],
  errors: readonly ServiceError[],
): readonly Incompleteness[] {
  if (incomplete.length === 0) return incomplete;
  const root = placesOf(errors);
  return incomplete.filter(({ path }) => !hasErrors(root, path.slice(0, -1)));
}

function placesOf(errors: readonly ServiceError[]): Place {
  const root = emptyPlace();
  for (const { path = [] } of errors) {
    let place = root;
    for (const step of path) {
      let next = place.below.get(step);
      if (!next) place.below.set(step, (next = emptyPlace()));
      place = next;
    }
    place.hasError = true;
  }
  return root;
}

const emptyPlace = (): Place => ({ hasError: false, below: new Map() });

/** Whether there are errors at this path, above or below it. */
function hasErrors(root: Place, path: Incompleteness['path']): boolean {
  let place = root;
  for (const step of path) {
    if (place.hasError) return true;
    const next = place.below.get(step);
    if (!next) return false;
    place = next;
  }
  return true;
}

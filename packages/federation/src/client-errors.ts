import { parse, visit } from 'graphql';
import type { PlanRun, ServiceError, SubgraphOperation } from './execution/run.ts';
import { absentFields } from './projection/absent-fields.ts';
import { clientPaths } from './projection/error-paths.ts';
import type { ObjectPlan } from './projection/projection-plan.ts';
import { takePlaces } from './result-size.ts';

/** How many fields get their own error when requests fail as a whole. Further fields are covered by one error without a path. */
const MAX_LOCATIONS = 100;

/** Returns the errors of a plan's run with their paths in the client's result. */
export function clientErrors<Context>({ errors, data, room }: PlanRun<Context>, plan: ObjectPlan): ServiceError[] {
  const unplaced = errors.filter(({ path }) => !path);
  const absent = unplaced.length > 0 ? absentFields(plan, data, MAX_LOCATIONS + 1) : [];
  const [first, ...others] = unplaced;
  /** The failed request that should have returned the field; otherwise the first, on which the field's request may have depended. */
  const causeOf = (from: string) =>
    others.length === 0 ? first : (unplaced.find(({ operation }) => requestedKeys(operation).has(from)) ?? first);
  const places = absent.slice(0, MAX_LOCATIONS).map(({ path, from }) => ({ path, cause: causeOf(from) }));

  return errors.flatMap((error) => {
    const { path, operation: _operation, ...rest } = error;
    if (path) {
      const paths = clientPaths(plan, data, path);
      takePlaces(room, paths, error);
      return paths.map((at) => (at.length > 0 ? { ...rest, path: at } : rest));
    }
    const own = places.filter(({ cause }) => cause === error);
    const placed: ServiceError[] = own.map((field) => ({ ...rest, path: field.path }));
    return placed.length === 0 || absent.length > MAX_LOCATIONS ? [...placed, rest] : placed;
  });
}

const keysByOperation = new WeakMap<SubgraphOperation, ReadonlySet<string>>();

/** All response keys of an operation on a service. */
function requestedKeys(operation: SubgraphOperation): ReadonlySet<string> {
  const known = keysByOperation.get(operation);
  if (known) return known;
  const keys = new Set<string>();
  visit(parse(operation.text, { noLocation: true }), {
    Field: ({ alias, name }) => void keys.add((alias ?? name).value),
  });
  keysByOperation.set(operation, keys);
  return keys;
}

import { canBeJoined } from './joined-operation.ts';
import type { PlannedFetch } from './plan-fetches.ts';

/** Fetches that share a request to their service. */
export interface PlannedRequest {
  fetches: readonly PlannedFetch[];
  /** Indices of the requests that have to end before it begins. */
  after: readonly number[];
}

/**
 * Groups the fetches of each service into as few requests as possible without lengthening the critical path: those of
 * the same step, and those that can wait for another one without delaying any other fetch. Ordered by steps.
 */
export function scheduleFetches(fetches: readonly PlannedFetch[]): PlannedRequest[] {
  const steps = stepsOf(fetches);
  const groups: PlannedFetch[][] = [];
  for (const fetch of fetches.toSorted((one, other) => stepIn(steps, one) - stepIn(steps, other))) {
    const group = groups.find((each) =>
      each.every((one) => stepIn(steps, one) === stepIn(steps, fetch) && canBeJoined(one.node, fetch.node)),
    );
    if (group) group.push(fetch);
    else groups.push([fetch]);
  }
  return groups.map((group) => ({
    fetches: group,
    after: [...groups.keys()].filter((index) =>
      groups[index]?.some((each) => group.some(({ after }) => after.has(each))),
    ),
  }));
}

type Steps = Map<PlannedFetch, number>;

const stepIn = (steps: Steps, fetch: PlannedFetch) => steps.get(fetch) ?? 0;

/** Runs each fetch as early as possible, or with a later one of its service if nothing has to wait for that. */
function stepsOf(fetches: readonly PlannedFetch[]): Steps {
  const steps: Steps = new Map();
  for (const fetch of fetches)
    steps.set(fetch, Math.max(-1, ...[...fetch.after].map((each) => stepIn(steps, each))) + 1);
  const last = Math.max(...steps.values());
  const placed: PlannedFetch[] = [];
  for (const fetch of fetches.toSorted((one, other) => stepIn(steps, other) - stepIn(steps, one))) {
    const earliest = stepIn(steps, fetch);
    const latest = Math.min(
      last,
      ...placed.filter(({ after }) => after.has(fetch)).map((each) => stepIn(steps, each) - 1),
    );
    const company = placed
      .filter(({ node }) => canBeJoined(node, fetch.node))
      .map((each) => stepIn(steps, each))
      .filter((step) => step >= earliest && step <= latest);
    if (company.length > 0) steps.set(fetch, Math.max(...company));
    placed.push(fetch);
  }
  return steps;
}

import { canBeJoined } from './joined-operation.ts';
import type { PlannedFetch } from './plan-fetches.ts';

/** Fetches that go to their service as one request. */
export interface PlannedRequest {
  fetches: readonly PlannedFetch[];
  /** Those that have to be over before it begins, by their places in the list. */
  after: readonly number[];
}

/**
 * Brings fetches of one service together in as few requests as may be, without a longer way from the first to the last: those
 * of one step, and one that could wait for another of its service without making anybody wait. In the order of their steps.
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

/** Each fetch as early as it can, or with a later one of its service, where nothing behind it would have to wait for that. */
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

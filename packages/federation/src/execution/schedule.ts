import { canBeJoined } from './joined-operation.ts';
import type { PlannedFetch } from './plan-fetches.ts';

/** Fetches that share a request to their service. */
export interface PlannedRequest {
  fetches: readonly PlannedFetch[];
  /** Indices of the requests that have to end before it begins. */
  after: readonly number[];
}

/** Groups the fetches of each service that can begin at the same step. Ordered by steps. */
export function scheduleFetches(fetches: readonly PlannedFetch[]): PlannedRequest[] {
  const steps = new Map<PlannedFetch, number>();
  const stepOf = (fetch: PlannedFetch) => steps.get(fetch) ?? 0;
  for (const fetch of fetches) steps.set(fetch, Math.max(-1, ...[...fetch.after].map(stepOf)) + 1);
  const groups: PlannedFetch[][] = [];
  for (const fetch of fetches.toSorted((one, other) => stepOf(one) - stepOf(other))) {
    const group = groups.find((each) =>
      each.every((one) => stepOf(one) === stepOf(fetch) && canBeJoined(one.node, fetch.node)),
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

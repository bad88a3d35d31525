import type { TaskChanged } from '@taskmesh/contracts';
import { type Clock, createLatencyHistogram } from '@taskmesh/service';
import { Counter, type Registry } from 'prom-client';

export interface FeedMetrics {
  /** A change that has readers here: it came from the event log, or had to be fetched. */
  arrived(change: TaskChanged, way: 'event_log' | 'gap_fill'): void;
  gapFilled(): void;
  resumed(outcome: 'resumed' | 'expired'): void;
  replayed(count: number): void;
}

export function createFeedMetrics(registry: Registry, clock: Clock): FeedMetrics {
  const registers = [registry];
  const resumes = new Counter({
    name: 'taskmesh_realtime_resumes_total',
    help: 'Subscriptions that came with a cursor, by whether it could be used',
    labelNames: ['outcome'],
    registers,
  });
  const replays = new Counter({
    name: 'taskmesh_realtime_replayed_changes_total',
    help: 'Changes that were read from the log for subscribers that came back',
    registers,
  });
  const gapFills = new Counter({
    name: 'taskmesh_realtime_gap_fills_total',
    help: 'Times that changes were missing and asked for',
    registers,
  });
  const arrival = createLatencyHistogram<'way'>(registry, {
    name: 'taskmesh_realtime_arrival_latency_seconds',
    help: 'From the commit of a change until it arrived at this gateway, by how it came',
  });
  const observeArrival = {
    event_log: arrival.observer({ way: 'event_log' }),
    gap_fill: arrival.observer({ way: 'gap_fill' }),
  };
  // So that these series exist before anything happens.
  for (const outcome of ['resumed', 'expired']) resumes.inc({ outcome }, 0);
  const committedAt = perChange(commitTime);

  return {
    arrived: (change, way) => observeArrival[way]((clock.now() - committedAt(change)) / 1000),
    gapFilled: () => gapFills.inc(),
    resumed: (outcome) => resumes.inc({ outcome }),
    replayed: (count) => replays.inc(count),
  };
}

export const NO_FEED_METRICS: FeedMetrics = {
  arrived: () => {},
  gapFilled: () => {},
  resumed: () => {},
  replayed: () => {},
};

/** In Unix milliseconds. */
export const commitTime = ({ occurredAt }: Pick<TaskChanged, 'occurredAt'>): number => Date.parse(occurredAt);

/** A change goes to many readers right after each other, so what was computed from it is kept until the next one comes. */
export function perChange<Change, Value>(compute: (change: Change) => Value): (change: Change) => Value {
  let last: { change: Change; value: Value } | undefined;
  return (change) => {
    if (last?.change !== change) last = { change, value: compute(change) };
    return last.value;
  };
}

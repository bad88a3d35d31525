import type { Logger } from '../event-log.ts';

/** A broker's restart or a change of leader costs one attempt; only longer failures are worth a log line. */
const FAILURES_TO_LOG = 3;

export type Part = number | 'metadata';

/** Counts each part's failures in a row; logs once that reading is stalled, and once that all parts are read again. */
export interface Outage {
  failed(part: Part, error: unknown): void;
  end(part: Part): void;
  keep(partitions: number[]): void;
  failures(part: Part): number;
}

export function createOutage(log: Logger, topic: string): Outage {
  const failures = new Map<Part, number>();
  let isLogged = false;
  const end = (part: Part) => {
    if (!failures.delete(part) || failures.size > 0) return;
    if (isLogged) log.info({ topic }, 'the event log is read again');
    isLogged = false;
  };
  return {
    failed(part, error) {
      const count = (failures.get(part) ?? 0) + 1;
      failures.set(part, count);
      if (isLogged || count < FAILURES_TO_LOG) return;
      isLogged = true;
      log.warn({ err: error, topic, part }, 'the event log cannot be read; trying on');
    },
    end,
    keep(partitions) {
      for (const part of failures.keys()) if (part !== 'metadata' && !partitions.includes(part)) end(part);
    },
    failures: (part) => failures.get(part) ?? 0,
  };
}

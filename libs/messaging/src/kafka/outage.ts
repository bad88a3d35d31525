import type { Log } from '@taskmesh/service';

/** A broker that restarts or hands over a partition costs one try; only what lasts longer is worth a line. */
const FAILURES_TO_TELL = 3;

/** Counts failures in a row, and tells once that reading stands still and once that it goes on. */
export interface Outage {
  failed(error: unknown): void;
  ended(): void;
  failures(): number;
}

export function createOutage(log: Log, topic: string): Outage {
  let failures = 0;
  return {
    failed(error) {
      failures += 1;
      if (failures === FAILURES_TO_TELL) log.warn({ err: error, topic }, 'the event log cannot be read; trying on');
    },
    ended() {
      if (failures >= FAILURES_TO_TELL) log.info({ topic, failures }, 'the event log is read again');
      failures = 0;
    },
    failures: () => failures,
  };
}

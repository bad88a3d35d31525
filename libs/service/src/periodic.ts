import { outside } from '@taskmesh/telemetry';
import { backoffMs, type Backoff } from './backoff.ts';
import type { Log } from './log.ts';

export interface PeriodicOptions {
  /** From the end of one run to the beginning of the next. */
  everyMs: number;
  /** The same after failures; its first pause is also what `soon` means. @default everyMs */
  retry?: Backoff;
  task: () => Promise<void>;
  /** For the log: what is done. */
  what: string;
  log: Log;
}

export interface Periodic {
  /** The first run begins at once, or when the first pause is over. @default at once */
  start(options?: { afterPause: boolean }): void;
  /** Does not wait for the next turn; resolves with the run that this begins or joins. Never rejects. */
  now(): Promise<void>;
  /** There is something to do: runs within a short while, also when a run is under way, which may not have seen it. */
  soon(): void;
  /** Waits for the run that is under way. */
  stop(): Promise<void>;
}

/** Runs a task again and again, one run at a time. A failure is told once, until it works again. */
export function createPeriodic(options: PeriodicOptions): Periodic {
  const { everyMs, retry = { firstMs: everyMs, longestMs: everyMs }, task, what, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isWanted = false;
  let failures = 0;

  const run = async () => {
    isWanted = false;
    try {
      await task();
      if (failures > 0) log.info({ what }, 'works again');
      failures = 0;
    } catch (error) {
      if (failures === 0 && !isStopped) log.warn({ err: error, what }, 'failed, and is tried again');
      failures++;
    }
    running = undefined;
    if (isWanted) plan(retry.firstMs);
    else plan(failures > 0 ? backoffMs(failures, retry) : everyMs);
  };

  const plan = (pauseMs: number) => {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(() => void now(), pauseMs);
  };

  const now = (): Promise<void> => {
    clearTimeout(timer);
    running ??= outside(run);
    return running;
  };

  return {
    start({ afterPause } = { afterPause: false }) {
      if (afterPause) plan(everyMs);
      else void now();
    },
    now,
    soon() {
      if (!isWanted && !running) plan(retry.firstMs);
      isWanted = true;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

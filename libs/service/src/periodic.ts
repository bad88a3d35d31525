import { outside } from '@taskmesh/telemetry';
import type { Log } from './log.ts';

export interface PeriodicOptions {
  /** From the end of one run to the beginning of the next. */
  everyMs: number;
  /** The same after a failure. @default everyMs */
  retryMs?: number;
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
  /** Waits for the run that is under way. */
  stop(): Promise<void>;
}

/** Runs a task again and again, one run at a time. A failure is told once, until it works again. */
export function createPeriodic({ everyMs, retryMs = everyMs, task, what, log }: PeriodicOptions): Periodic {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isFailing = false;

  const run = async () => {
    try {
      await task();
      if (isFailing) log.info({ what }, 'works again');
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped) log.warn({ err: error, what }, 'failed, and is tried again');
      isFailing = true;
    }
    running = undefined;
    if (!isStopped) plan(isFailing ? retryMs : everyMs);
  };

  const plan = (pauseMs: number) => void (timer = setTimeout(() => void now(), pauseMs));

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
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

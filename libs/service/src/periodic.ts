import { runOutsideSpans } from './telemetry/tracing.ts';
import { backoffMs, type Backoff } from './time.ts';
import { createFailureLog, type Log } from './log.ts';

export interface PeriodicOptions {
  /** The pause from the end of a run to the start of the next. */
  everyMs: number;
  /** The pauses after failures; the first is also the delay of `soon`. @default everyMs */
  retry?: Backoff;
  task: () => Promise<void>;
  /** The task's name in the log. */
  what: string;
  log: Log;
}

/** Repeats a task, one run at a time. Logs a failure when it begins, changes or lasts, and when the task works again. */
export function createPeriodic(options: PeriodicOptions) {
  const { everyMs, retry = { firstMs: everyMs, maxMs: everyMs }, task, what, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isWanted = false;
  let failures = 0;
  const failureLog = createFailureLog((error) => log.warn({ err: error, what }, 'failed; trying again'));

  const run = async () => {
    isWanted = false;
    try {
      await task();
      if (failureLog.succeeded()) log.info({ what }, 'works again');
      failures = 0;
    } catch (error) {
      if (!isStopped) failureLog.failed(error);
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

  /** Starts a run at once, or joins the current one; resolves when that run ends. Never rejects. */
  const now = (): Promise<void> => {
    clearTimeout(timer);
    running ??= runOutsideSpans(run);
    return running;
  };

  return {
    /** Runs at once, or after the first pause. @default at once */
    start({ afterPause }: { afterPause: boolean } = { afterPause: false }) {
      if (afterPause) plan(everyMs);
      else void now();
    },
    now,
    /** Runs shortly because there is work; if a run is in progress, runs again after it, as it may have missed the work. */
    soon() {
      if (!isWanted && !running) plan(retry.firstMs);
      isWanted = true;
    },
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Runs all steps in turn, even if some fail. @throws the failure, or an AggregateError of several, when all have ended */
export async function runAllSteps(steps: Iterable<() => Promise<unknown>>): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0)
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.join('; '));
}

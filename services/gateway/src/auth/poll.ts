import type { Log } from '@taskmesh/service';
import { outside } from '@taskmesh/telemetry';

/** After a failure the next run comes sooner, if the usual one is far off. */
const RETRY_MS = 500;

export interface PollOptions {
  /** From the end of one run to the beginning of the next. */
  everyMs: number;
  task: () => Promise<void>;
  /** For the log: what is read. */
  what: string;
  log: Log;
}

/** Runs a task again and again, one run at a time. A failure is told once, until it works again. */
export function createPoll({ everyMs, task, what, log }: PollOptions) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isFailing = false;

  const run = async () => {
    try {
      await task();
      if (isFailing) log.info({ what }, 'can be read again');
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped) log.warn({ err: error, what }, 'cannot be read');
      isFailing = true;
    }
    running = undefined;
    if (!isStopped) timer = setTimeout(now, isFailing ? Math.min(everyMs, RETRY_MS) : everyMs);
  };

  /** Does not wait for the next turn; resolves with the run that this begins or joins. */
  const now = (): Promise<void> => {
    clearTimeout(timer);
    running ??= outside(run);
    return running;
  };

  return {
    start(): void {
      void now();
    },
    now,
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

import { settlesWithin, type Log, type Service } from '@taskmesh/service';
import { Cron } from 'croner';
import type { ScheduledRun } from './scheduled-run.ts';

export interface SchedulerOptions {
  /** Five or six fields, in UTC. */
  pattern: string;
  scheduled: ScheduledRun;
  now: () => number;
  log: Log;
}

/** Clocks are adjusted and machines sleep, so no wait is longer than this. */
const LONGEST_WAIT_MS = 30_000;
/** How long a stop waits for a current run; the next start cleans up what it leaves. */
const STOP_WAIT_MS = 10_000;

/** Why the pattern is invalid; undefined if it is valid. */
export function whyNoPattern(pattern: string): string | undefined {
  try {
    return parse(pattern).nextRun() ? undefined : 'never comes';
  } catch {
    return 'must be a cron pattern of five fields: minute, hour, day, month, weekday';
  }
}

/** The first moment of a valid pattern behind `now`. */
export const nextMoment = (pattern: string, now: Date): Date | null => parse(pattern).nextRun(now);

const parse = (pattern: string) => new Cron(pattern, { timezone: 'UTC', mode: '5-or-6-parts', paused: true });

/**
 * Runs what is due, one run at a time. Moments missed while no instance ran, or died during the work, are made up for
 * by one run for the last of them.
 */
export function createScheduler({ pattern, scheduled, now, log }: SchedulerOptions): Service {
  const cron = parse(pattern);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let done: Date | undefined;
  let stopped = false;

  /** Returns when to look again at the latest. */
  const runDue = async (): Promise<Date | undefined> => {
    const [due] = cron.previousRuns(1, new Date(now() + 1)); // includes the current moment
    if (!due || due.getTime() === done?.getTime()) return undefined; // later ones were done by a clock that was ahead
    try {
      const again = await scheduled.run(due, () => stopped);
      if (!again) done = due;
      return again;
    } catch (error) {
      log.error({ err: error, moment: due }, 'a scheduled run could not be looked at, it will be tried again');
      return new Date(now() + LONGEST_WAIT_MS);
    }
  };

  const tick = async (): Promise<void> => {
    const again = await runDue();
    if (stopped) return;
    const next = [again, cron.nextRun(new Date(now()))].map((moment) => moment?.getTime() ?? Infinity);
    const waitMs = Math.min(Math.max(Math.min(...next) - now(), 0), LONGEST_WAIT_MS);
    timer = setTimeout(() => void (running = tick()), waitMs);
  };

  return {
    async start() {
      running = tick();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await settlesWithin(running, STOP_WAIT_MS);
    },
  };
}

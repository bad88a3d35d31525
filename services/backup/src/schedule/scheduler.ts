import type { Log, Service } from '@taskmesh/service';
import { Cron } from 'croner';
import type { ScheduledBackups } from './scheduled-backups.ts';

export interface SchedulerOptions {
  /** Five or six fields, in UTC. */
  pattern: string;
  scheduled: ScheduledBackups;
  now: () => number;
  /** Told of each failure. */
  onFailure: () => void;
  log: Log;
}

/** Clocks are set and machines sleep: no wait is longer than that. */
const LONGEST_WAIT_MS = 30_000;
/** A run that is still under way when the service stops: what it leaves is cleared away by the next start. */
const STOP_WAIT_MS = 10_000;

/** Why a pattern is none; undefined for a good one. */
export function whyNoPattern(pattern: string): string | undefined {
  try {
    return parse(pattern).nextRun() ? undefined : 'never comes';
  } catch {
    return 'must be a cron pattern of five fields: minute, hour, day, month, weekday';
  }
}

const parse = (pattern: string) => new Cron(pattern, { timezone: 'UTC', mode: '5-or-6-parts', paused: true });

/**
 * Runs what is scheduled, one run after the other. A moment that passed while nobody ran is made up for at the start;
 * of several moments that passed, the last one.
 */
export function createScheduler({ pattern, scheduled, now, onFailure, log }: SchedulerOptions): Service {
  const cron = parse(pattern);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const run = async (moment: Date): Promise<void> => {
    try {
      await scheduled.run(moment);
    } catch (error) {
      onFailure();
      log.error({ err: error, moment }, 'scheduled backup failed');
    }
  };

  const waitFor = (moment: Date | null): void => {
    if (stopped || !moment) return;
    const waitMs = Math.min(Math.max(moment.getTime() - now(), 0), LONGEST_WAIT_MS);
    timer = setTimeout(() => {
      if (now() < moment.getTime()) return waitFor(moment);
      running = run(moment).then(() => waitFor(cron.nextRun(new Date(now()))));
    }, waitMs);
  };

  const missed = async (): Promise<Date | undefined> => {
    const [due] = cron.previousRuns(1, new Date(now()));
    const last = await scheduled.lastMoment();
    return due && last && last < due ? due : undefined;
  };

  return {
    async start() {
      const moment = await missed().catch(() => undefined);
      running = (moment ? run(moment) : Promise.resolve()).then(() => waitFor(cron.nextRun(new Date(now()))));
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      let late: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => (late = setTimeout(resolve, STOP_WAIT_MS)));
      await Promise.race([running, patience]);
      clearTimeout(late);
    },
  };
}

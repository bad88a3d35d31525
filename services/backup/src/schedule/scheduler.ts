import { backoffMs, settlesWithin, type Log, type Service } from '@taskmesh/service';
import { Cron } from 'croner';
import { isInFuture } from '../clock-skew.ts';
import { LockBusyError, type RunLock } from '../run-lock.ts';
import type { Schedule } from './run.entities.ts';
import type { ScheduleRepository } from './run.repository.ts';

export interface SchedulerOptions {
  /** A cron pattern of five or six fields, in UTC. */
  pattern: string;
  repository: ScheduleRepository;
  lock: RunLock;
  /** Returns whether it succeeded. Reports its own failures, unless they are retried, and never throws. */
  work(isRetried: () => boolean): Promise<boolean>;
  /** Called once for each due moment at which the schedule cannot be read, from the second check on. Never throws. */
  onUnavailable(error: unknown): Promise<unknown>;
  /** Called when another instance has done the work of a due moment. */
  onDoneElsewhere(): Promise<unknown>;
  /** After this many failures, or when the next moment comes first, a moment is completed as well. */
  maxAttempts: number;
  now: () => Date;
  log: Log;
}

/** No wait is longer than this, because clocks are adjusted, machines sleep, and other instances die. */
const MAX_WAIT_MS = 30_000;
/** How long a stop waits for the current run; what the run leaves behind is removed later. */
const STOP_WAIT_MS = 10_000;

/** Returns why the pattern is invalid; undefined if it is valid. */
export function findPatternProblem(pattern: string): string | undefined {
  try {
    return parse(pattern).nextRun() ? undefined : 'never comes';
  } catch {
    return 'must be a cron pattern of five fields: minute, hour, day, month, weekday';
  }
}

/** Returns the first moment of a valid pattern after `now`. */
export const nextMoment = (pattern: string, now: Date): Date | null => parse(pattern).nextRun(now);

const parse = (pattern: string) => new Cron(pattern, { timezone: 'UTC', mode: '5-or-6-parts', paused: true });

/**
 * Runs the work when it is due, one run at a time. If moments were missed because no instance was running, or one died
 * during the work, one run for the last of them makes up for all.
 */
export function createScheduler(options: SchedulerOptions): Service {
  const { pattern, repository, lock, work, onUnavailable, onDoneElsewhere, maxAttempts, now, log } = options;
  const cron = parse(pattern);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let done: Date | undefined;
  let reported: Date | undefined;
  let failedChecks = 0;
  let isStopped = false;
  const after = (ms: number) => new Date(now().getTime() + ms);

  const isDone = (state: Pick<Schedule, 'moment'> | null, moment: Date) =>
    state !== null && state.moment >= moment && !isInFuture(state.moment, now());

  /** Does the work of a due moment unless it is done. Returns when to check again; undefined when the moment is done. */
  const runAlone = async (moment: Date): Promise<Date | undefined> => {
    const state = await repository.find();
    if (isDone(state, moment)) return void (await onDoneElsewhere());
    // A new schedule has missed nothing.
    if (state) {
      const nextCheck = retryTime(state, moment, now());
      if (nextCheck > now()) return nextCheck;
      const attempts = attemptsOf(state, moment) + 1;
      await repository.begin({ moment, at: now(), attempts });
      const next = cron.nextRun(moment) ?? new Date(Infinity);
      const retryAt = after(backoffMs(attempts, BACKOFF));
      const isRetried = () => attempts < maxAttempts && next > retryAt && next > after(MAX_WAIT_MS);
      // The shutdown may have caused the failure.
      if (!(await work(isRetried)) && (isStopped || isRetried())) return after(MAX_WAIT_MS);
      reported = moment; // by the work itself, if it failed
    }
    await repository.end(moment);
    if (state) log.debug({ moment }, 'scheduled run ended');
    return undefined;
  };

  /** Returns the latest time for the next check. */
  const runDue = async (): Promise<Date | undefined> => {
    const [due] = cron.previousRuns(1, after(1)); // includes the current moment
    if (!due || due.getTime() === done?.getTime()) return undefined; // done, or ran earlier while a clock was ahead
    try {
      const nextCheck = await lock.run(LOCK_WAIT_MS, () => runAlone(due));
      failedChecks = 0;
      if (!nextCheck) done = due;
      return nextCheck;
    } catch (error) {
      if (error instanceof LockBusyError) return after(MAX_WAIT_MS);
      log.error({ err: error, moment: due }, 'a scheduled run could not be checked, and will be retried');
      if (++failedChecks > 1 && due.getTime() !== reported?.getTime()) {
        const isOver = isDone(await repository.find().catch(() => null), due); // only the lock may be out of reach
        await (isOver ? onDoneElsewhere().catch(() => undefined) : onUnavailable(error));
        reported = due;
      }
      return after(MAX_WAIT_MS);
    }
  };

  const tick = async (): Promise<void> => {
    const nextCheck = await runDue();
    if (isStopped) return;
    const next = [nextCheck, cron.nextRun(now())].map((moment) => moment?.getTime() ?? Infinity);
    const waitMs = Math.min(Math.max(Math.min(...next) - now().getTime(), 0), MAX_WAIT_MS);
    timer = setTimeout(() => void (running = tick()), waitMs);
  };

  return {
    async start() {
      running = tick();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await settlesWithin(running, STOP_WAIT_MS);
    },
  };
}

const LOCK_WAIT_MS = 1_000;
/** Between runs that failed or died with their process. */
const BACKOFF = { firstMs: 60_000, maxMs: 60 * 60_000 };

const attemptsOf = ({ begunMoment, attempts }: Schedule, moment: Date): number =>
  begunMoment?.getTime() === moment.getTime() ? attempts : 0;

/** When to retry a moment that was started but not completed: the work failed, or may have killed its process. */
function retryTime(state: Schedule, moment: Date, now: Date): Date {
  const attempts = attemptsOf(state, moment);
  if (attempts === 0 || (state.begunAt && isInFuture(state.begunAt, now))) return new Date(0);
  return new Date((state.begunAt?.getTime() ?? 0) + backoffMs(attempts, BACKOFF));
}

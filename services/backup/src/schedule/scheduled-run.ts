import { backoffMs, type Log } from '@taskmesh/service';
import { isInFuture } from '../clock-skew.ts';
import type { RunLock } from '../run-lock.ts';
import type { Schedule } from './schedule.entity.ts';
import type { ScheduleRepository } from './schedule.repository.ts';

export interface ScheduledRunDeps {
  repository: ScheduleRepository;
  lock: RunLock;
  /** Returns whether all went well. Reports its own failures and never throws: a failure also completes the moment. */
  work(): Promise<boolean>;
  now: () => Date;
  log: Log;
}

export interface ScheduledRun {
  /**
   * Does the work of a due moment unless it is done. Returns when to ask again; undefined when the moment is done. A
   * run that failed during a shutdown counts as not done.
   * @throws Error when our own database is unavailable
   */
  run(moment: Date, isStopping: () => boolean): Promise<Date | undefined>;
}

/** Another instance is running the work. */
export class ScheduleBusy extends Error {
  override readonly name = 'ScheduleBusy';
}

const WAIT_MS = 1_000;
/** If that instance dies, we take over its moment. */
const LOOK_AGAIN_MS = 30_000;
/** Between runs that ended with their process. */
const BACKOFF = { firstMs: 60_000, longestMs: 60 * 60_000 };

export function createScheduledRun({ repository, lock, work, now, log }: ScheduledRunDeps): ScheduledRun {
  const after = (ms: number) => new Date(now().getTime() + ms);

  const runAlone = async (moment: Date, isStopping: () => boolean): Promise<Date | undefined> => {
    const state = await repository.find();
    if (state && state.moment >= moment && !isInFuture(state.moment, now())) return undefined;
    // A new schedule has missed nothing.
    if (state) {
      const again = earliest(state, moment, now());
      if (again > now()) return again;
      await repository.begin({ moment, at: now(), attempts: attemptsOf(state, moment) + 1 });
      if (!(await work()) && isStopping()) return after(LOOK_AGAIN_MS);
    }
    await repository.end(moment);
    if (state) log.debug({ moment }, 'scheduled run ended');
    return undefined;
  };

  return {
    async run(moment, isStopping) {
      try {
        return await lock.run(WAIT_MS, () => runAlone(moment, isStopping));
      } catch (error) {
        if (error instanceof ScheduleBusy) return after(LOOK_AGAIN_MS);
        throw error;
      }
    },
  };
}

const attemptsOf = ({ begunMoment, attempts }: Schedule, moment: Date): number =>
  begunMoment?.getTime() === moment.getTime() ? attempts : 0;

/** When to retry a moment that was started but not completed: the work itself may have killed its process. */
function earliest(state: Schedule, moment: Date, now: Date): Date {
  const attempts = attemptsOf(state, moment);
  if (attempts === 0 || (state.begunAt && isInFuture(state.begunAt, now))) return new Date(0);
  return new Date((state.begunAt?.getTime() ?? 0) + backoffMs(attempts, BACKOFF));
}

import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import type { Schedule } from './run.entities.ts';
import { createScheduler, type SchedulerOptions } from './scheduler.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-10T12:00:00Z');
const DUE = new Date('2026-03-10T03:30:00Z');

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Creates a schedule for half past three that is in the given state. */
function createTrial(
  state: Partial<Schedule>,
  work: SchedulerOptions['work'] = async () => true,
  pattern = '30 3 * * *',
) {
  const begun: string[] = [];
  const unavailable: unknown[] = [];
  const doneElsewhere: string[] = [];
  let [outage, lockOutage]: (Error | undefined)[] = [];
  let now = NOW;
  let current = { id: 'backup', begunMoment: null, begunAt: null, attempts: 0, moment: DUE, ...state } as Schedule;
  const create = () =>
    createScheduler({
      pattern,
      repository: {
        find: async () => (outage ? Promise.reject(outage) : current),
        begin: async ({ moment, at, attempts }) => {
          begun.push(moment.toISOString().slice(0, 10));
          current = { ...current, begunMoment: moment, begunAt: at, attempts };
        },
        end: async (moment) => (outage ? Promise.reject(outage) : void (current = { ...current, moment, attempts: 0 })),
      },
      lock: { run: (_waitMs, locked) => (lockOutage ? Promise.reject(lockOutage) : locked(async () => true)) },
      work,
      onUnavailable: async (error) => void unavailable.push(error),
      onDoneElsewhere: async () => void doneElsewhere.push(current.moment.toISOString().slice(0, 10)),
      maxAttempts: 3,
      now: () => now,
      log: createLog({ service: 'test', level: 'silent' }),
    });
  /** Runs an instance that checks at these times what is due. */
  const run = async (...times: Date[]) => {
    const scheduler = create();
    for (const [index, time] of times.entries()) {
      now = time;
      if (index === 0) await scheduler.start?.();
      await jest.advanceTimersByTimeAsync(60_000);
    }
    await scheduler.stop?.();
  };
  const setOutage = (error?: Error) => void (outage = error);
  const setLockOutage = (error?: Error) => void (lockOutage = error);
  return { run, begun, unavailable, doneElsewhere, setOutage, setLockOutage, state: () => current };
}

const after = (base: Date, ms: number) => new Date(base.getTime() + ms);
const NEVER_RUN = { moment: new Date(0) };
const diedAgo = (attempts: number, seconds: number) =>
  ({ ...NEVER_RUN, begunMoment: DUE, begunAt: after(NOW, -seconds * 1_000), attempts }); // prettier-ignore

it('a schedule continues after a clock that was ahead is corrected', async () => {
  const { run, begun, doneElsewhere } = createTrial(NEVER_RUN);
  await run(after(NOW, 30 * DAY_MS), NOW, after(NOW, DAY_MS));
  expect([begun, doneElsewhere]).toEqual([['2026-04-09', '2026-03-10', '2026-03-11'], []]);
});

describe('a scheduled moment', () => {
  it.each([
    ['an instance has run it', { moment: DUE }, false],
    ['an instance whose clock is slightly ahead has run it', { moment: after(NOW, 2_000) }, false],
    ['a clock that was ahead by a year has run a later one', { moment: after(DUE, 365 * DAY_MS) }, true],
    ['a clock that was ahead recorded a future start of it', diedAgo(3, -365 * 86_400), true],
    ['one run died half a minute ago', diedAgo(1, 30), false],
    ['one run died a minute ago', diedAgo(1, 91), true],
    ['the third run died three minutes ago', diedAgo(3, 180), false],
    ['the third run died four minutes ago', diedAgo(3, 241), true],
    ['the twentieth run died almost an hour ago', diedAgo(20, 59 * 60), false],
    ['the twentieth run died an hour ago', diedAgo(20, 60 * 60 + 1), true],
  ])('if %s: %j: is due: %j', async (_what, state, isDue) => {
    const trial = createTrial(state);
    await trial.run(NOW);
    expect(trial.begun).toEqual(isDue ? ['2026-03-10'] : []);
    if (!isDue) return;
    expect(trial.state().moment).toEqual(DUE);
    await trial.run(NOW);
    expect(trial.begun).toHaveLength(1);
  });

  it('is tried again after a failure: after one minute, then after two more, and no more', async () => {
    const retries: boolean[] = [];
    const fail: SchedulerOptions['work'] = async (isRetried) => (retries.push(isRetried()), false);
    const { run, begun, state } = createTrial(NEVER_RUN, fail);
    const counts: number[] = [];
    for (const seconds of [0, 58, 61, 150, 183, 600]) {
      await run(after(NOW, seconds * 1_000));
      counts.push(begun.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
    expect(retries).toEqual([true, true, false]);
    expect(state().moment).toEqual(DUE);
    const frequent = createTrial(NEVER_RUN, fail, '* * * * *');
    await frequent.run(NOW); // the next moment comes first
    expect([retries.at(-1), frequent.state().moment]).toEqual([false, NOW]);
  });

  it('is reported once as not run while the database is unavailable, and runs when it is back', async () => {
    const { run, begun, unavailable, setOutage } = createTrial(NEVER_RUN);
    const outage = new Error('the database is down');
    const DAYS = [NOW, after(NOW, DAY_MS)];
    setOutage(outage);
    await run(...DAYS.flatMap((day) => [day, day]));
    expect([unavailable, begun]).toEqual([[outage, outage], []]);
    setOutage();
    await run(DAYS[1] as Date);
    expect([unavailable.length, begun]).toEqual([2, ['2026-03-11']]);
  });

  it('is not reported as not run if the database is back at the second look, or is lost only after the run', async () => {
    const outage = new Error('the database is down');
    const brief = createTrial(NEVER_RUN);
    brief.setOutage(outage);
    setTimeout(() => brief.setOutage(), 10_000);
    const late = createTrial(NEVER_RUN, async () => (late.setOutage(outage), true));
    for (const { run, begun, unavailable } of [brief, late]) {
      await run(NOW);
      expect([begun, unavailable]).toEqual([['2026-03-10'], []]);
    }
  });

  it('is not reported as not run if another instance has run it, while only the lock is out of reach', async () => {
    const { run, unavailable, doneElsewhere, setLockOutage } = createTrial({ moment: DUE });
    setLockOutage(new Error('too many connections'));
    await run(NOW, NOW, NOW);
    expect([unavailable, doneElsewhere]).toEqual([[], ['2026-03-10']]);
  });
});

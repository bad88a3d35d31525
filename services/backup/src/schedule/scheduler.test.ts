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

it('a schedule continues after a clock that was ahead is corrected', async () => {
  const { run, begun } = createTrial({ moment: new Date(0) });
  await run(new Date(NOW.getTime() + 30 * DAY_MS), NOW, new Date(NOW.getTime() + DAY_MS));
  expect(begun).toEqual(['2026-04-09', '2026-03-10', '2026-03-11']);
});

describe('a scheduled moment', () => {
  it.each([
    ['a day', 1],
    ['a year', 365],
  ])('is still due if a clock that was ahead by %s has run a later one', async (_what, days) => {
    const { run, begun, state } = createTrial({ moment: new Date(DUE.getTime() + days * DAY_MS) });
    await run(NOW);
    expect(begun).toEqual(['2026-03-10']);
    expect(state().moment).toEqual(DUE);
    await run(NOW);
    expect(begun).toHaveLength(1);
  });

  it('runs only once, even if an instance whose clock is slightly ahead ran it', async () => {
    for (const moment of [DUE, new Date(NOW.getTime() + 2_000)]) {
      const { run, begun } = createTrial({ moment });
      await run(NOW);
      expect(begun).toEqual([]);
    }
  });

  it.each([
    [1, 30, 'a minute'],
    [3, 180, 'four minutes'],
    [20, 59 * 60, 'an hour'],
  ])(
    'after %i runs that died with their process, the last one %i s ago, is retried only %s after it',
    async (attempts, seconds) => {
      const begunAgo = (ago: number) =>
        createTrial({
          moment: new Date(0),
          begunMoment: DUE,
          begunAt: new Date(NOW.getTime() - ago * 1_000),
          attempts,
        });
      const [waiting, due] = [begunAgo(seconds), begunAgo(seconds + 61)];
      await waiting.run(NOW);
      await due.run(NOW);
      expect([waiting.begun, due.begun]).toEqual([[], ['2026-03-10']]);
      expect(due.state().moment).toEqual(DUE);
    },
  );

  it('is tried again after a failure: after one minute, then after two more, and no more', async () => {
    const retries: boolean[] = [];
    const fail: SchedulerOptions['work'] = async (isRetried) => (retries.push(isRetried()), false);
    const { run, begun, state } = createTrial({ moment: new Date(0) }, fail);
    const counts: number[] = [];
    for (const seconds of [0, 58, 61, 150, 183, 600]) {
      await run(new Date(NOW.getTime() + seconds * 1_000));
      counts.push(begun.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
    expect(retries).toEqual([true, true, false]);
    expect(state().moment).toEqual(DUE);
    const frequent = createTrial({ moment: new Date(0) }, fail, '* * * * *');
    await frequent.run(NOW); // the next moment comes first
    expect([retries.at(-1), frequent.state().moment]).toEqual([false, NOW]);
  });

  it('is reported once as not run while the database is unavailable, and runs when it is back', async () => {
    const { run, begun, unavailable, setOutage } = createTrial({ moment: new Date(0) });
    const outage = new Error('the database is down');
    const DAYS = [0, 1].map((days) => new Date(NOW.getTime() + days * DAY_MS));
    setOutage(outage);
    await run(...DAYS.flatMap((day) => [day, day]));
    expect([unavailable, begun]).toEqual([[outage, outage], []]);
    setOutage();
    await run(DAYS[1] as Date);
    expect([unavailable.length, begun]).toEqual([2, ['2026-03-11']]);
  });

  it('is not reported as not run if the database is back at the second look, or is lost only after the run', async () => {
    const outage = new Error('the database is down');
    const brief = createTrial({ moment: new Date(0) });
    brief.setOutage(outage);
    setTimeout(() => brief.setOutage(), 10_000);
    const late = createTrial({ moment: new Date(0) }, async () => (late.setOutage(outage), true));
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

  it('is left to the instance that has run it', async () => {
    for (const [moment, elsewhere] of [
      [DUE, ['2026-03-10']],
      [new Date(0), []],
    ] as const) {
      const { run, doneElsewhere } = createTrial({ moment });
      await run(NOW);
      expect(doneElsewhere).toEqual(elsewhere);
    }
  });

  it('does not wait for a future start time that a clock that was ahead recorded', async () => {
    const begunAt = new Date(NOW.getTime() + 365 * DAY_MS);
    const { run, begun } = createTrial({ moment: new Date(0), begunMoment: DUE, begunAt, attempts: 3 });
    await run(NOW);
    expect(begun).toEqual(['2026-03-10']);
  });
});

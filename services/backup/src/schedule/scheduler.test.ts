import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import type { Schedule } from './run.entities.ts';
import { createScheduledRun, createScheduler } from './scheduler.ts';

const DAY_MS = 86_400_000;
const log = createLog({ service: 'test', level: 'silent' });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a schedule goes on when a clock that was ahead is set right', async () => {
  const noon = Date.parse('2026-03-10T12:00:00Z');
  let now = noon + 30 * DAY_MS;
  const asked: string[] = [];
  const scheduled = {
    run: async (moment: Date) => {
      asked.push(moment.toISOString().slice(0, 10));
      return undefined;
    },
  };
  const scheduler = createScheduler({ pattern: '30 3 * * *', scheduled, now: () => now, log });
  await scheduler.start();
  await jest.advanceTimersByTimeAsync(60_000);
  now = noon;
  await jest.advanceTimersByTimeAsync(60_000);
  now = noon + DAY_MS;
  await jest.advanceTimersByTimeAsync(60_000);
  await scheduler.stop();
  expect(asked).toEqual(['2026-04-09', '2026-03-10', '2026-03-11']);
});

const NOW = new Date('2026-03-10T12:00:00Z');
const DUE = new Date('2026-03-10T03:30:00Z');

function createTrial(state: Partial<Schedule>) {
  let runs = 0;
  let current = { id: 'backup', begunMoment: null, begunAt: null, attempts: 0, moment: DUE, ...state } as Schedule;
  const scheduled = createScheduledRun({
    repository: {
      find: async () => current,
      begin: async ({ moment, at, attempts }) =>
        void (current = { ...current, begunMoment: moment, begunAt: at, attempts }),
      end: async (moment) => void (current = { ...current, moment, attempts: 0 }),
    },
    lock: { run: (_waitMs, work) => work(async () => true) },
    work: async () => ++runs > 0,
    now: () => NOW,
    log,
  });
  return { ask: () => scheduled.run(DUE, () => false), runs: () => runs, state: () => current };
}

describe('a moment of the schedule', () => {
  it.each([
    ['a day', 1],
    ['a year', 365],
  ])('is not done because a clock that was ahead by %s has done later ones', async (_what, days) => {
    const { ask, runs, state } = createTrial({ moment: new Date(DUE.getTime() + days * DAY_MS) });
    expect(await ask()).toBeUndefined();
    expect(runs()).toBe(1);
    expect(state().moment).toEqual(DUE);
    await ask();
    expect(runs()).toBe(1);
  });

  it('is done when it was done, also by an instance whose clock is a little ahead', async () => {
    for (const moment of [DUE, new Date(NOW.getTime() + 2_000)]) {
      const { ask, runs } = createTrial({ moment });
      expect(await ask()).toBeUndefined();
      expect(runs()).toBe(0);
    }
  });

  it('that was begun by a clock that was ahead does not wait until that time comes', async () => {
    const begunAt = new Date(NOW.getTime() + 365 * DAY_MS);
    const { ask, runs } = createTrial({ moment: new Date(0), begunMoment: DUE, begunAt, attempts: 3 });
    expect(await ask()).toBeUndefined();
    expect(runs()).toBe(1);
  });
});

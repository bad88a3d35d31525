import { jest } from '@jest/globals';
import { createLog, type Log } from '@taskmesh/service';
import type { HousekeepingRepository } from './housekeeping.repository.ts';
import { createHousekeeping } from './housekeeping.ts';

const DATABASE_MS = 1_800_000_000_000;

it.each([
  [30, true],
  [-86_400, true],
  [31, false],
])('with a clock %i s ahead of the database, clears expired rows: %s', async (aheadSeconds, clears) => {
  jest.useFakeTimers();
  let isCleared = false;
  const errors: unknown[] = [];
  const clear = async () => {
    isCleared = true;
    return false;
  };
  const repository: HousekeepingRepository = { databaseTime: async () => DATABASE_MS, removals: () => [clear] };
  const housekeeping = createHousekeeping({
    repository,
    auditRetentionDays: 365,
    clock: { now: () => DATABASE_MS + aheadSeconds * 1_000 },
    log: { error: (fields: unknown) => errors.push(fields), info: () => undefined } as unknown as Log, // the only methods that it calls
  });
  await housekeeping.start();
  await jest.advanceTimersByTimeAsync(60_000);
  await housekeeping.stop();
  jest.useRealTimers();
  expect(isCleared).toBe(clears);
  expect(errors).toEqual(clears ? [] : [{ aheadSeconds }]);
});

it('looks for accounts deleted in the last month at the start, and after a sweep that failed or was refused; else in the last day', async () => {
  jest.useFakeTimers();
  const days: number[] = [];
  let [aheadMs, fails] = [0, false];
  const housekeeping = createHousekeeping({
    repository: {
      databaseTime: async () => DATABASE_MS,
      removals({ deleted }) {
        days.push(deleted.length);
        return fails ? [() => Promise.reject(new Error('takes too long'))] : [];
      },
    },
    auditRetentionDays: 365,
    clock: { now: () => DATABASE_MS + aheadMs },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  await housekeeping.start();
  for (const [isAhead, isFailing] of [[], [], [true], [], [], [false, true], [], []]) {
    [aheadMs, fails] = [isAhead ? 60_000 : 0, isFailing === true];
    await jest.advanceTimersByTimeAsync(60_000);
  }
  await housekeeping.stop();
  jest.useRealTimers();
  expect(days).toEqual([30, 1, 30, 1, 1, 30, 1]);
});

import { jest } from '@jest/globals';
import { type Log } from '@taskmesh/service';
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

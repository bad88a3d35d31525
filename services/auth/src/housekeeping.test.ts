import { jest } from '@jest/globals';
import type { Log } from '@taskmesh/service';
import type { HousekeepingRepository } from './housekeeping.repository.ts';
import { createHousekeeping } from './housekeeping.ts';

const DATABASE_MS = 1_800_000_000_000;

it.each([
  [30, true],
  [-86_400, true],
  [31, false],
])('clears what has expired by a clock %i s ahead of the database: %s', async (aheadSeconds, clears) => {
  jest.useFakeTimers();
  const removals: string[] = [];
  const errors: unknown[] = [];
  const repository = new Proxy({} as HousekeepingRepository, {
    get: (_, name) =>
      name === 'removeExpired'
        ? new Map()
        : async () => {
            if (name === 'databaseTime') return DATABASE_MS;
            removals.push(String(name));
            return false;
          },
  });
  const housekeeping = createHousekeeping({
    repository,
    auditRetentionDays: 365,
    clock: { now: () => DATABASE_MS + aheadSeconds * 1_000 },
    log: { error: (fields: unknown) => errors.push(fields), info: () => undefined } as unknown as Log, // all that it calls
  });
  await housekeeping.start();
  await jest.advanceTimersByTimeAsync(60_000);
  await housekeeping.stop();
  jest.useRealTimers();
  expect(removals.includes('removeOldEntries')).toBe(clears);
  expect(errors).toEqual(clears ? [] : [{ aheadSeconds }]);
});

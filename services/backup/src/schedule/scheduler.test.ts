import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { createScheduler } from './scheduler.ts';

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

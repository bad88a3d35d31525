import { jest } from '@jest/globals';
import type { Database } from '../database/database.ts';
import type { Session } from '../database/session.ts';
import { FENCE_MS, openLockSession } from './lock-session.ts';

let nowMs: number;
let lost: AbortController;
let session: Session;
let asked: Parameters<Database['openSession']>[0][];
beforeEach(() => {
  [nowMs, lost, asked] = [0, new AbortController(), []];
  session = { lost: lost.signal, run: async () => [], listen: async () => undefined, close: async () => undefined };
});

const open = () =>
  openLockSession(
    {
      async openSession(options) {
        asked.push(options);
        return session;
      },
    },
    () => nowMs,
  );

it('a session that holds locks is safe only for a while after the last successful statement, counted from its start', async () => {
  session.run = async () => {
    nowMs += 2_000; // the response is slow
    return [];
  };
  const locks = await open();
  expect(locks.isSafe()).toBe(true);
  nowMs = FENCE_MS - 1;
  expect(locks.isSafe()).toBe(true);
  nowMs = FENCE_MS; // as after a freeze of the process
  expect(locks.isSafe()).toBe(false);

  await locks.run({ name: 'anything', text: 'select 1' });
  nowMs += FENCE_MS - 2_001;
  expect(locks.isSafe()).toBe(true);
  nowMs += 1;
  expect(locks.isSafe()).toBe(false);
  await locks.close();
});

it('a session that holds locks is not safe once it is lost, however recent the last response', async () => {
  const locks = await open();
  expect(locks.isSafe()).toBe(true);
  lost.abort();
  expect(locks.isSafe()).toBe(false);
  await locks.close();
});

it('a session that holds locks pings every second, one ping at a time, until it is lost, and not at all if it was lost at once', async () => {
  jest.useFakeTimers();
  const pings: string[] = [];
  const answers: (() => void)[] = [];
  session.run = ({ name }) => {
    pings.push(name);
    return new Promise((resolve) => void answers.push(() => resolve([])));
  };
  await open();
  await jest.advanceTimersByTimeAsync(3_000);
  expect(pings.splice(0)).toEqual(['lock-session-ping']);
  answers[0]?.();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(pings.splice(0)).toEqual(['lock-session-ping']);
  session.run = ({ name }) => (pings.push(name), Promise.reject(new Error('gone')));
  answers[1]?.();
  await jest.advanceTimersByTimeAsync(2_000);
  expect(pings.splice(0)).toHaveLength(2);
  lost.abort();
  expect(jest.getTimerCount()).toBe(0);
  await open();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

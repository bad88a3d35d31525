import { jest } from '@jest/globals';
import { createWakeUp } from './wake-up.ts';

const FOREVER_MS = 60_000;

it('wakes who waits, and not before it rings', async () => {
  const bell = createWakeUp();
  let woken = false;
  const waiting = bell.wait(FOREVER_MS).then(() => (woken = true));
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  bell.ring();
  await waiting;
});

it('remembers a ring until it is cleared', async () => {
  const bell = createWakeUp();
  bell.ring();
  await bell.wait(FOREVER_MS);
  bell.clear();
  let woken = false;
  const waiting = bell.wait(FOREVER_MS).then(() => (woken = true));
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  bell.ring();
  await waiting;
});

it('gives up waiting after a while', async () => {
  await createWakeUp().wait(1);
});

it('leaves no timer behind who was woken', async () => {
  jest.useFakeTimers();
  const bell = createWakeUp();
  const waiting = bell.wait(FOREVER_MS);
  bell.ring();
  await waiting;
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

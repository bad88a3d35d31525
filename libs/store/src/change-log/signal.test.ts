import { jest } from '@jest/globals';
import { createSignal } from './signal.ts';

const FOREVER_MS = 60_000;

it('wakes who waits, and not before it rings', async () => {
  const signal = createSignal();
  let woken = false;
  const waiting = signal.wait(FOREVER_MS).then(() => (woken = true));
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  signal.notify();
  await waiting;
});

it('remembers a ring until it is cleared', async () => {
  const signal = createSignal();
  signal.notify();
  await signal.wait(FOREVER_MS);
  signal.clear();
  let woken = false;
  const waiting = signal.wait(FOREVER_MS).then(() => (woken = true));
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  signal.notify();
  await waiting;
});

it('gives up waiting after a while', async () => {
  await createSignal().wait(1);
});

it('leaves no timer behind who was woken', async () => {
  jest.useFakeTimers();
  const signal = createSignal();
  const waiting = signal.wait(FOREVER_MS);
  signal.notify();
  await waiting;
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

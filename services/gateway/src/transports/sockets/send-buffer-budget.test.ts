import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { createSendBufferBudget } from './send-buffer-budget.ts';

describe('the budget of all queues', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each([
    [[10, 20, 30, 40], []],
    [
      [10, 60, 50, 30],
      [60, 50],
    ],
    [[76, 25], [76]],
    [[1, 1, 1, 200], [200]],
  ])('of 100 bytes with %j waiting cuts %j', (waiting, expected) => {
    const cut: number[] = [];
    const budget = createSendBufferBudget({
      maxBytes: 100,
      queuedBytes: () => waiting.reduce((sum, bytes) => sum + bytes, 0),
      readers: () => waiting.map((waitingBytes) => ({ waitingBytes, cut: () => void cut.push(waitingBytes) })),
      log: createLog({ service: 'gateway', level: 'fatal' }),
    });
    budget.start();
    jest.advanceTimersByTime(150);
    budget.stop();
    jest.advanceTimersByTime(1_000);
    expect(cut).toEqual(expected);
  });
});

import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { createUnreadBudget } from './unread-answers.ts';

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
  ])('of 100 bytes with %j waiting cuts %j', async (waiting, expected) => {
    const cut: number[] = [];
    const budget = createUnreadBudget({
      maxBytes: 100,
      waitingBytes: () => waiting.reduce((sum, bytes) => sum + bytes, 0),
      readers: () =>
        waiting.map((waitingBytes) => ({ waitingBytes, network: 'n', cut: () => void cut.push(waitingBytes) })),
      log: createLog({ service: 'gateway', level: 'fatal' }),
      what: 'tests',
    });
    await budget.start();
    jest.advanceTimersByTime(150);
    await budget.stop();
    jest.advanceTimersByTime(1_000);
    expect(cut).toEqual(expected);
  });

  it('cuts the network with the most first, of that the account, of that the connection', async () => {
    const cut: string[] = [];
    const readers = Object.entries({
      'home/ada/1': 60,
      'home/eve/1': 20,
      'office/bob/1': 40,
      'office/bob/2': 10,
      'office/kim/1': 45,
    }).map(([name, waitingBytes]) => {
      const [network = '', account] = name.split('/');
      return { waitingBytes, network, account, cut: () => void cut.push(name) };
    });
    const budget = createUnreadBudget({
      maxBytes: 150,
      waitingBytes: () => 175,
      readers: () => readers,
      log: createLog({ service: 'gateway', level: 'fatal' }),
      what: 'tests',
    });
    await budget.start();
    jest.advanceTimersByTime(150);
    await budget.stop();
    expect(cut).toEqual(['office/bob/1', 'office/bob/2', 'office/kim/1']);
  });
});

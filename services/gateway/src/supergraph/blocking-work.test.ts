import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBlockingWork } from './blocking-work.ts';

/** Blocks the event loop for this long. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('long work on the event loop', () => {
  it('pauses for others in between, with networks in turn', async () => {
    const turns = createBlockingWork();
    const order: string[] = [];
    let othersTurns = 0;
    let isOver = false;
    const others = (async () => {
      for (; !isOver; othersTurns++) await nextTurn();
    })();
    const work = (network: string) => turns.run(network, () => (busy(8), order.push(network)));
    await Promise.all([...Array.from({ length: 20 }, () => work('192.0.2.1')), work('192.0.2.2')]);
    isOver = true;
    await others;
    expect(order.indexOf('192.0.2.2')).toBeLessThan(3);
    expect(othersTurns).toBeGreaterThan(20);
  });

  it('runs at once if it is short and rare', async () => {
    const turns = createBlockingWork();
    let runs = 0;
    for (const _time of [1, 2, 3]) void turns.run('192.0.2.1', () => runs++);
    for (const _turn of [1, 2]) await Promise.resolve();
    expect(runs).toBeGreaterThan(0);
    await expect(turns.run('192.0.2.1', () => JSON.parse('no'))).rejects.toThrow('JSON');
    await expect(turns.run('192.0.2.1', () => 5)).resolves.toBe(5);
  });

  it('does not pause for as long as the process was frozen', async () => {
    const turns = createBlockingWork();
    const now = performance.now.bind(performance);
    let frozenMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + frozenMs);
    await turns.run('192.0.2.1', () => (frozenMs = 60_000));
    await expect(turns.run('192.0.2.1', () => 1)).resolves.toBe(1);
    clock.mockRestore();
  });

  it('is refused when too much waits', async () => {
    const turns = createBlockingWork();
    const outcomes = await Promise.allSettled(Array.from({ length: 1_500 }, () => turns.run('192.0.2.1', () => 1)));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(100);
    expect(refused[0]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE' } });
  });
});

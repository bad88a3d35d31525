import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { activeSpan, within, type Span } from '@taskmesh/telemetry';
import { eventually } from '@taskmesh/testing';
import { createSettler } from './settler.ts';

const log = createLog({ service: 'test', level: 'silent' });
const away = () => Promise.reject(new Error('away'));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A settler whose attempts do what the test says, one after the other, and succeed in the end. */
function createTrial(...attempts: (() => Promise<void>)[]) {
  let count = 0;
  const settler = createSettler({ log, settle: () => attempts[count++]?.() ?? Promise.resolve() });
  return { settler, count: () => count };
}

/** After how many seconds each of the next attempts comes. */
async function secondsUntilNext(count: () => number, times: number): Promise<number[]> {
  const seconds: number[] = [];
  while (seconds.length < times) {
    const before = count();
    let waited = 0;
    for (; count() === before; waited++) await jest.advanceTimersByTimeAsync(1_000);
    seconds.push(waited);
  }
  return seconds;
}

describe('what settles interrupted restores', () => {
  it('looks at the start, which waits for it, and every minute', async () => {
    const { settler, count } = createTrial();
    await settler.start();
    expect(count()).toBe(1);
    expect(await secondsUntilNext(count, 2)).toEqual([60, 60]);
    await settler.stop();
  });

  it('tries again at longer and longer intervals until it succeeds, and then begins with the short ones', async () => {
    const { settler, count } = createTrial(...Array(7).fill(away), async () => undefined, away);
    await settler.start();
    expect(await secondsUntilNext(count, 9)).toEqual([1, 2, 4, 8, 16, 30, 30, 60, 1]);
    await settler.stop();
  });

  it('looks soon when it is told that something was left, once', async () => {
    const { settler, count } = createTrial();
    await settler.start();
    settler.wake();
    settler.wake();
    expect(await secondsUntilNext(count, 2)).toEqual([1, 60]);
    await settler.stop();
  });

  it('does one thing at a time, and has done it when it has stopped', async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const { settler, count } = createTrial(
      async () => undefined,
      () => promise,
    );
    await settler.start();
    settler.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    settler.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(count()).toBe(2);
    let stopped = false;
    const stopping = settler.stop().then(() => (stopped = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    finish();
    await stopping;
    settler.wake();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('works outside of the trace of whoever told it', async () => {
    jest.useRealTimers();
    const seen: (Span | undefined)[] = [];
    const settler = createSettler({ log, settle: async () => void seen.push(activeSpan()) });
    const span: Span = {
      traceId: 't',
      spanId: 's',
      traceparent: '',
      startMs: 0,
      child: () => span,
      set() {},
      end() {},
    };
    within(span, () => settler.wake());
    await eventually(() => expect(seen).toEqual([undefined]));
    await settler.stop();
  });
});

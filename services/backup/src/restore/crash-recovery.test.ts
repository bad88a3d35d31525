import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { activeSpan, within, type Span } from '@taskmesh/telemetry';
import { eventually } from '@taskmesh/testing';
import { createCrashRecovery } from './crash-recovery.ts';

const log = createLog({ service: 'test', level: 'silent' });
const away = () => Promise.reject(new Error('away'));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A crash recovery whose attempts do what the test says, one after the other, and succeed in the end. */
function createTrial(...attempts: (() => Promise<void>)[]) {
  let count = 0;
  const crashRecovery = createCrashRecovery({ log, settle: () => attempts[count++]?.() ?? Promise.resolve() });
  return { crashRecovery, count: () => count };
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
    const { crashRecovery, count } = createTrial();
    await crashRecovery.start();
    expect(count()).toBe(1);
    expect(await secondsUntilNext(count, 2)).toEqual([60, 60]);
    await crashRecovery.stop();
  });

  it('tries again at longer and longer intervals until it succeeds, and then begins with the short ones', async () => {
    const { crashRecovery, count } = createTrial(...Array(7).fill(away), async () => undefined, away);
    await crashRecovery.start();
    expect(await secondsUntilNext(count, 9)).toEqual([1, 2, 4, 8, 16, 30, 30, 60, 1]);
    await crashRecovery.stop();
  });

  it('looks soon when it is told that something was left, once', async () => {
    const { crashRecovery, count } = createTrial();
    await crashRecovery.start();
    crashRecovery.wake();
    crashRecovery.wake();
    expect(await secondsUntilNext(count, 2)).toEqual([1, 60]);
    await crashRecovery.stop();
  });

  it('does one thing at a time, and has done it when it has stopped', async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const { crashRecovery, count } = createTrial(
      async () => undefined,
      () => promise,
    );
    await crashRecovery.start();
    crashRecovery.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    crashRecovery.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(count()).toBe(2);
    let stopped = false;
    const stopping = crashRecovery.stop().then(() => (stopped = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    finish();
    await stopping;
    crashRecovery.wake();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('works outside of the trace of whoever told it', async () => {
    jest.useRealTimers();
    const seen: (Span | undefined)[] = [];
    const crashRecovery = createCrashRecovery({ log, settle: async () => void seen.push(activeSpan()) });
    const span: Span = {
      traceId: 't',
      spanId: 's',
      traceparent: '',
      startMs: 0,
      child: () => span,
      set() {},
      end() {},
    };
    within(span, () => crashRecovery.wake());
    await eventually(() => expect(seen).toEqual([undefined]));
    await crashRecovery.stop();
  });
});

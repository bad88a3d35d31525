import { eventually } from '@taskmesh/testing';
import { activeSpan, runInSpan, type Span } from './telemetry/tracing.ts';
import { createRecordingLog } from '../tests/index.ts';
import { createLog } from './log.ts';
import { createPeriodic } from './periodic.ts';

function fixture({ everyMs, outcomes = [] }: { everyMs: number; outcomes?: ('fails' | 'works' | Promise<void>)[] }) {
  const startedAt: number[] = [];
  const began = Date.now();
  const { log, lines } = createRecordingLog('debug');
  const periodic = createPeriodic({
    everyMs,
    retry: { firstMs: Math.min(everyMs, 500), maxMs: Math.min(everyMs, 1_000) },
    async task() {
      startedAt.push(Date.now() - began);
      const outcome = outcomes.shift();
      if (outcome === 'fails') throw new Error('away');
      if (outcome !== 'works') await outcome;
    },
    what: 'the list',
    log,
  });
  return { periodic, startedAt, logged: () => lines.map(({ level, what, msg }) => `${level}: ${what} ${msg}`) };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a periodic task', () => {
  it('runs at once, and again after a pause from the end of each run', async () => {
    const slow = new Promise<void>((resolve) => setTimeout(resolve, 250));
    const { periodic, startedAt, logged } = fixture({ everyMs: 1_000, outcomes: [slow] });
    periodic.start();
    await jest.advanceTimersByTimeAsync(2_500);
    expect([startedAt, logged()]).toEqual([[0, 1_250, 2_250], []]);
    await periodic.stop();
  });

  it.each([
    [8_000, [0, 500, 1_500, 2_500, 10_500, 11_000]],
    [300, [0, 300, 600, 900, 1_200, 1_500]],
  ])('is retried with growing pauses after failures, with %d ms between other runs', async (everyMs, expected) => {
    const { periodic, startedAt } = fixture({ everyMs, outcomes: ['fails', 'fails', 'fails', 'works', 'fails'] });
    periodic.start();
    await jest.advanceTimersByTimeAsync(expected.at(-1) ?? 0);
    expect(startedAt).toEqual(expected);
    await periodic.stop();
  });

  it('runs on request instead of the next run, and never twice at a time', async () => {
    let end = () => {};
    const slow = new Promise<void>((resolve) => (end = resolve));
    const { periodic, startedAt } = fixture({ everyMs: 1_000, outcomes: ['works', slow] });
    periodic.start();
    await jest.advanceTimersByTimeAsync(600);
    const joined = [periodic.now(), periodic.now()];
    await jest.advanceTimersByTimeAsync(900);
    expect(startedAt).toEqual([0, 600]);
    end();
    await Promise.all(joined);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(startedAt).toEqual([0, 600, 2_500]);
    await periodic.stop();
  });

  it('runs soon on request, once for many requests, and then as planned', async () => {
    const { periodic, startedAt } = fixture({ everyMs: 10_000 });
    periodic.start();
    await jest.advanceTimersByTimeAsync(300);
    periodic.soon();
    await jest.advanceTimersByTimeAsync(300);
    periodic.soon();
    await jest.advanceTimersByTimeAsync(11_000);
    expect(startedAt).toEqual([0, 800, 10_800]);
    await periodic.stop();
  });

  it('stops after the current run, whose failure is not logged', async () => {
    let fail = () => {};
    const slow = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('closed'))));
    const { periodic, startedAt, logged } = fixture({ everyMs: 100, outcomes: [slow] });
    periodic.start();
    let isStopped = false;
    const stopped = periodic.stop().then(() => (isStopped = true));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    fail();
    await stopped;
    await jest.advanceTimersByTimeAsync(1_000);
    expect([startedAt, logged()]).toEqual([[0], []]);
  });
});

it('runs outside of the trace of the caller that requested it', async () => {
  jest.useRealTimers();
  const seen: (Span | undefined)[] = [];
  const log = createLog({ service: 'test', level: 'silent' });
  const periodic = createPeriodic({ everyMs: 1, what: 'test', task: async () => void seen.push(activeSpan()), log });
  const span: Span = { traceId: 't', spanId: 's', traceparent: '', startMs: 0, child: () => span, set() {}, end() {} };
  await runInSpan(span, () => periodic.now());
  await eventually(() => expect(seen.length).toBeGreaterThan(2));
  await periodic.stop();
  expect(seen.filter(Boolean)).toEqual([]);
});

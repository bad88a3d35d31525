import { createLog } from '@taskmesh/service';
import { jest } from '@jest/globals';
import { eventually } from '@taskmesh/testing';
import { activeSpan, within, type Span } from '@taskmesh/telemetry';
import { createPoll } from './poll.ts';

/** A poll whose runs end as `outcomes` say, and well after them. */
function fixture({ everyMs, outcomes = [] }: { everyMs: number; outcomes?: ('fails' | 'works' | Promise<void>)[] }) {
  const startedAt: number[] = [];
  const told: string[] = [];
  const began = Date.now();
  const write = (line: string) => {
    const { level, what, msg } = JSON.parse(line) as Record<string, string>;
    told.push(`${level}: ${what} ${msg}`);
  };
  const poll = createPoll({
    everyMs,
    async task() {
      startedAt.push(Date.now() - began);
      const outcome = outcomes.shift();
      if (outcome === 'fails') throw new Error('away');
      if (outcome !== 'works') await outcome;
    },
    what: 'the list',
    log: createLog({ service: 'test', level: 'debug', destination: { write } }),
  });
  return { poll, startedAt, told };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a task that is polled', () => {
  it('runs at once, and again so long after each run has ended', async () => {
    const slow = new Promise<void>((resolve) => setTimeout(resolve, 250));
    const { poll, startedAt, told } = fixture({ everyMs: 1_000, outcomes: [slow] });
    poll.start();
    await jest.advanceTimersByTimeAsync(2_500);
    expect([startedAt, told]).toEqual([[0, 1_250, 2_250], []]);
    await poll.stop();
  });

  it.each([
    [8_000, [0, 500, 1_000, 9_000]],
    [300, [0, 300, 600, 900]],
  ])('after a failure runs again soon, with %d ms between others', async (everyMs, expected) => {
    const { poll, startedAt } = fixture({ everyMs, outcomes: ['fails', 'fails'] });
    poll.start();
    await jest.advanceTimersByTimeAsync(expected.at(-1) ?? 0);
    expect(startedAt).toEqual(expected);
    await poll.stop();
  });

  it('is told of once when it fails, and once when it works again', async () => {
    const { poll, told } = fixture({ everyMs: 100, outcomes: ['fails', 'fails', 'works', 'works', 'fails'] });
    poll.start();
    await jest.advanceTimersByTimeAsync(1_000);
    const once = ['warn: the list cannot be read', 'info: the list can be read again'];
    expect(told).toEqual([...once, ...once]);
    await poll.stop();
  });

  it('runs out of turn when it is asked for, in place of the next turn, and never twice at a time', async () => {
    let end = () => {};
    const slow = new Promise<void>((resolve) => (end = resolve));
    const { poll, startedAt } = fixture({ everyMs: 1_000, outcomes: ['works', slow] });
    poll.start();
    await jest.advanceTimersByTimeAsync(600);
    const joined = [poll.now(), poll.now()];
    await jest.advanceTimersByTimeAsync(900);
    expect(startedAt).toEqual([0, 600]);
    end();
    await Promise.all(joined);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(startedAt).toEqual([0, 600, 2_500]);
    await poll.stop();
  });

  it('has its next turn so long after one out of turn', async () => {
    const { poll, startedAt } = fixture({ everyMs: 1_000 });
    poll.start();
    await jest.advanceTimersByTimeAsync(600);
    await poll.now();
    await jest.advanceTimersByTimeAsync(1_500);
    expect(startedAt).toEqual([0, 600, 1_600]);
    await poll.stop();
  });

  it('ends with the run that is under way, whose failure is nobody’s business any more', async () => {
    let fail = () => {};
    const slow = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('closed'))));
    const { poll, startedAt, told } = fixture({ everyMs: 100, outcomes: [slow] });
    poll.start();
    let isStopped = false;
    const stopped = poll.stop().then(() => (isStopped = true));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    fail();
    await stopped;
    await jest.advanceTimersByTimeAsync(1_000);
    expect([startedAt, told]).toEqual([[0], []]);
  });

  it('does not run any more after the end', async () => {
    const { poll, startedAt } = fixture({ everyMs: 100 });
    poll.start();
    await jest.advanceTimersByTimeAsync(50);
    await poll.stop();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(startedAt).toEqual([0]);
  });
});

it('goes on outside of the trace of whoever asked for a run', async () => {
  jest.useRealTimers();
  const seen: (Span | undefined)[] = [];
  const log = createLog({ service: 'test', level: 'silent' });
  const poll = createPoll({ everyMs: 1, what: 'test', task: async () => void seen.push(activeSpan()), log });
  const span: Span = { traceId: 't', spanId: 's', traceparent: '', startMs: 0, child: () => span, set() {}, end() {} };
  await within(span, () => poll.now());
  await eventually(() => expect(seen.length).toBeGreaterThan(2));
  await poll.stop();
  expect(seen.filter(Boolean)).toEqual([]);
});

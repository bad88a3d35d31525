import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { createSignal, createWorkerHealth, keepWorking } from './keep-working.ts';

const FOREVER_MS = 60_000;

describe('a signal', () => {
  /** Expects a wait that ends as soon as it is notified, and not before. */
  async function expectToWaitFor(signal: ReturnType<typeof createSignal>): Promise<void> {
    let woken = false;
    const waiting = signal.wait(FOREVER_MS).then(() => (woken = true));
    await new Promise(setImmediate);
    expect(woken).toBe(false);
    signal.notify();
    await waiting;
  }

  it('ends a wait, and remembers a notification until it is cleared', async () => {
    const signal = createSignal();
    await expectToWaitFor(signal);
    await signal.wait(FOREVER_MS);
    signal.clear();
    await expectToWaitFor(signal);
  });

  it('ends a wait after its timeout, and leaves no timer behind after a notification', async () => {
    await createSignal().wait(1);
    jest.useFakeTimers();
    const signal = createSignal();
    const waiting = signal.wait(FOREVER_MS);
    signal.notify();
    await waiting;
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});

/** Works, fails and pauses as `options` say, and returns what was logged. */
async function run(options: Partial<Parameters<typeof keepWorking<number>>[0]>): Promise<string[]> {
  const lines: string[] = [];
  await keepWorking<number>({
    signal: AbortSignal.abort(),
    open: async () => 1,
    work: () => Promise.reject(new Error('lost')),
    close: async () => undefined,
    pause: async () => undefined,
    health: createWorkerHealth(),
    what: 'the test',
    log: createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } }),
    ...options,
  });
  return lines;
}

it('works under one lease after the other, closes each, and pauses longer with each consecutive failure', async () => {
  const stopping = new AbortController();
  const pauses: number[] = [];
  const closed: number[] = [];
  let opened = 0;
  await run({
    signal: stopping.signal,
    async open() {
      opened++;
      if (opened === 2) throw new Error('the server is away');
      return opened;
    },
    async work(lease, onRound) {
      if (lease === 4) onRound();
      if (lease === 5) return stopping.abort();
      throw new Error('lost');
    },
    close: async (lease) => void closed.push(lease),
    pause: async (ms) => void pauses.push(ms),
  });
  expect(closed).toEqual([1, 3, 4, 5]);
  expect(pauses.slice(0, 4)).toEqual([50, 100, 200, 50]);
});

it.each([
  ['cannot connect', () => Promise.reject(new Error('timeout expired'))],
  ['has failed, or has lost its connection', () => Promise.resolve(1)],
])('logs a failure once: %s', async (happened, open) => {
  const stopping = new AbortController();
  let pauses = 0;
  const lines = await run({ signal: stopping.signal, open, pause: async () => ++pauses === 3 && stopping.abort() });
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([`the test ${happened}; connecting again until it works`]);
});

it('logs another cause, and the recovery', async () => {
  const stopping = new AbortController();
  const causes = ['the server is away', 'the server is away', 'relation "feeds" does not exist'];
  let nowMs = 0;
  const health = createWorkerHealth(() => (nowMs += 1_000));
  const failing: (number | undefined)[] = [];
  const lines = await run({
    ...{ signal: stopping.signal, health },
    async work(_lease, onRound) {
      failing.push(health.failingSeconds());
      const cause = causes.shift();
      if (cause !== undefined) throw new Error(cause);
      onRound();
      stopping.abort();
    },
  });
  expect(lines.map((line) => JSON.parse(line)).map(({ err, msg }) => err?.message ?? msg)).toEqual([
    'the server is away',
    'relation "feeds" does not exist',
    'the test works again',
  ]);
  expect(failing).toEqual([undefined, 1, 2, 3]);
  expect(health.failingSeconds()).toBeUndefined();
});

it('opens nothing if it is already stopped', async () => {
  expect(await run({ open: () => Promise.reject(new Error('must not be opened')) })).toEqual([]);
});

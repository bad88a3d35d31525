import { createBulkhead, createFairQueue, type FairQueueOptions } from './queues.ts';

const REFUSED = new Error('refused');
const createQueue = (concurrency: number) => createBulkhead({ maxWaitMs: 5_000, refusal: () => REFUSED, concurrency });

/** Creates work that the test completes. */
function createWork() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const work = { started: false, resolve, run: () => ((work.started = true), promise) };
  return work;
}

const settle = () => new Promise(setImmediate);

describe('a bulkhead', () => {
  it('runs a limited amount of work at once, counted by weight, and lets no lighter work overtake', async () => {
    const queue = createQueue(3);
    const [light, heavy, heaviest, last] = [createWork(), createWork(), createWork(), createWork()];
    const works = [light, heavy, heaviest, last];
    const results = works.map((work, at) => queue.run('key', work.run, { weight: [1, 2, 10, 1][at] ?? 1 }));
    const started = async () => {
      await settle();
      return works.map((work) => work.started);
    };
    expect(await started()).toEqual([true, true, false, false]);
    heavy.resolve('heavy');
    expect(await started()).toEqual([true, true, false, false]);
    light.resolve('light');
    expect(await started()).toEqual([true, true, true, false]);
    heaviest.resolve('heaviest');
    expect(await started()).toEqual([true, true, true, true]);
    last.resolve('last');
    expect(await Promise.all(results)).toEqual(['light', 'heavy', 'heaviest', 'last']);
  });

  it('starts lighter work when the heavy work ahead of it leaves', async () => {
    const queue = createQueue(2);
    const [running, heavy, light] = [createWork(), createWork(), createWork()];
    const caller = new AbortController();
    const results = [
      queue.run('key', running.run),
      queue.run('key', heavy.run, { weight: 2, signal: caller.signal }),
      queue.run('key', light.run),
    ];
    caller.abort();
    await expect(results[1]).rejects.toBe(REFUSED);
    await settle();
    expect([heavy.started, light.started]).toEqual([false, true]);
    running.resolve('done');
    light.resolve('done');
    await Promise.all([results[0], results[2]]);
  });

  it('starts nothing for a caller that has left, even if nothing is running', async () => {
    const work = createWork();
    await expect(createQueue(1).run('key', work.run, { signal: AbortSignal.abort() })).rejects.toBe(REFUSED);
    expect(work.started).toBe(false);
  });
});

function fixture({ concurrency = 1, maxWaiting = 10, ...more }: Partial<FairQueueOptions> = {}) {
  const turns = createFairQueue({ concurrency, maxWaiting, refusal: () => REFUSED, ...more });
  const begun: string[] = [];
  const under: { end: () => void; fail: (error: Error) => void }[] = [];
  const run = (caller: string, name = caller) => {
    const outcome = turns.run(caller, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => under.push({ end: () => resolve(name), fail: reject }));
    });
    return outcome.catch((error: Error) => error.message);
  };
  const endAll = async () => {
    for (await settle(); under.length > 0; await settle()) under.shift()?.end();
  };
  return { run, turns, begun, under, endAll };
}

describe('a fair queue', () => {
  it('lets callers take turns, however much work they have', async () => {
    const { run, begun, endAll } = fixture();
    for (const name of ['a1', 'a2', 'a3']) void run('a', name);
    for (const name of ['b1', 'b2']) void run('b', name);
    const last = run('c');
    await endAll();
    expect(await last).toBe('c');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c', 'a3', 'b2']);
  });

  it('rejects work of the caller with the most waiting when it is full, regardless of the order', async () => {
    const { run, begun, endAll } = fixture({ maxWaiting: 3 });
    const many = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run('a', name));
    const few = [run('b'), run('c')];
    await endAll();
    expect(await Promise.all(few)).toEqual(['b', 'c']);
    expect(await Promise.all(many)).toEqual(['a1', 'a2', 'refused', 'refused', 'refused']);
    expect(begun).toEqual(['a1', 'a2', 'b', 'c']);
  });

  it('refuses another caller when all waiting ones have equally little', async () => {
    const { run, endAll } = fixture({ maxWaiting: 2 });
    const outcomes = ['a', 'b', 'c', 'd'].map((name) => run(name));
    await endAll();
    expect(await Promise.all(outcomes)).toEqual(['a', 'b', 'c', 'refused']);
  });

  it('lets the networks of an IPv6 site share a turn, and refuses the site when its networks fill the queue', async () => {
    const { run, begun, endAll } = fixture({ maxWaiting: 4 });
    const many = ['1', '2', '3', '4', '5'].map((digit) => run(`2001:db8:1:${digit}::/64`, digit));
    const few = [run('2001:db8:2:1::/64', 'a'), run('192.0.2.7', 'b')];
    await endAll();
    expect(await Promise.all(few)).toEqual(['a', 'b']);
    expect((await Promise.all(many)).filter((outcome) => outcome === 'refused')).toHaveLength(2);
    expect(begun.slice(0, 4)).toEqual(['1', expect.stringMatching(/[2-5]/), 'a', 'b']);
  });

  it('rejects work that waits too long, and keeps serving the rest', async () => {
    const { run, turns, begun, endAll } = fixture({ maxWaitMs: 20 });
    const outcomes = [run('a'), run('a'), run('b')];
    expect(turns.waiting()).toBe(2);
    expect(await Promise.all(outcomes.slice(1))).toEqual(['refused', 'refused']);
    expect(turns.waiting()).toBe(0);
    const next = run('b');
    await endAll();
    expect([await outcomes[0], await next]).toEqual(['a', 'b']);
    expect(begun).toEqual(['a', 'b']);
  });

  it('passes on the place of a caller that left while it waited', async () => {
    const { run, turns, begun, endAll } = fixture();
    const caller = new AbortController();
    const first = run('a');
    const left = turns.run('b', async () => begun.push('b'), { signal: caller.signal });
    const last = run('c');
    caller.abort();
    await expect(left).rejects.toBe(REFUSED);
    await endAll();
    expect([await first, await last, begun]).toEqual(['a', 'c', ['a', 'c']]);
  });

  it('continues after a failure', async () => {
    const { run, under, endAll } = fixture();
    const outcomes = [run('a'), run('b')];
    await settle();
    under.shift()?.fail(new Error('no'));
    await endAll();
    expect(await Promise.all(outcomes)).toEqual(['no', 'b']);
  });

  it('rejects all waiting work with a failure if configured, and continues afterwards', async () => {
    const { run, under, endAll } = fixture({ failsTogether: true });
    const outcomes = [run('a'), run('b'), run('c')];
    await settle();
    under.shift()?.fail(new Error('away'));
    expect(await Promise.all(outcomes)).toEqual(['away', 'away', 'away']);
    const next = [run('a'), run('b')];
    await settle();
    await endAll();
    expect(await Promise.all(next)).toEqual(['a', 'b']);
  });
});

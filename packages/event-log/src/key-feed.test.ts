import { jest } from '@jest/globals';
import { eventually } from '@taskmesh/testing';
import { KeyFeed, type FeedEnd, type FeedPage, type KeyFeedOptions } from './key-feed.ts';

interface Change {
  epoch: number;
  sequence: number;
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** A store of one key's changes. */
function createStore(pageSize: number) {
  const changes: Change[] = [];
  const asked = { changesAfter: 0 };
  let forgotten = 0;
  let isUnavailable = false;
  return {
    asked,
    commit(): Change {
      const change = { epoch: 1, sequence: changes.length + 1 };
      changes.push(change);
      return change;
    },
    async changesAfter(sequence: number, limit: number): Promise<FeedPage<Change>> {
      if (isUnavailable) throw new Error('away');
      asked.changesAfter++;
      const page = changes.slice(sequence, sequence + Math.min(limit, pageSize));
      return { epoch: 1, expired: sequence < forgotten, changes: page };
    },
    forgetUpTo: (sequence: number) => (forgotten = sequence),
    setUnavailable: (value: boolean) => (isUnavailable = value),
  };
}

function createReader() {
  const seen: number[] = [];
  const ends: FeedEnd[] = [];
  return {
    seen,
    ends,
    onChange: ({ sequence }: Change) => void seen.push(sequence),
    onEnd: (reason: FeedEnd) => void ends.push(reason),
    drained: async () => {},
  };
}

/** Runs one piece of work at a time. */
function createLimit() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const own = last.then(work);
    last = own;
    return own;
  };
}

/** One key's feed at the beginning of the log, and everything it emits. */
function fixture(options: Partial<KeyFeedOptions<Change>> = {}, pageSize = 7) {
  const store = createStore(pageSize);
  const logged: unknown[] = [];
  const log = (fields: object, msg: string) => void logged.push({ ...fields, msg });
  const counted = { replayed: 0, expired: 0 };
  const feed = new KeyFeed<Change>({
    start: { epoch: 1, sequence: 0 },
    changesAfter: (...request) => store.changesAfter(...request),
    log: { warn: log, error: log },
    onReplayed: () => counted.replayed++,
    pageLimits: { fill: createLimit(), replay: createLimit() },
    onEpoch: () => undefined,
    onExpired: () => counted.expired++,
    ...options,
  });
  const attach = (sequence = 0, more: Partial<ReturnType<typeof createReader>> = {}) => {
    const reader = { ...createReader(), ...more };
    return { ...reader, leave: feed.attach(reader, { epoch: 1, sequence }) };
  };
  const { commit } = store;
  const commitMany = (count: number) => Array.from({ length: count }, commit);
  const deliver = (...changes: Change[]) => changes.forEach((change) => feed.handleChange(change));
  return { store, feed, logged, counted, attach, commit, commitMany, deliver };
}

describe('the feed of a key', () => {
  it('lets the delivery of a live change run within other work, with the trace that came with it', () => {
    const deliveries: string[] = [];
    const within = (name: string) => (run: () => void) => {
      deliveries.push(`${name} begins`);
      run();
      deliveries.push('ends');
    };
    const beginDelivery = (_change: Change, way: string, trace?: string) =>
      trace ? within(`${trace} ${way}`) : undefined;
    const { feed, attach, commit } = fixture({ beginDelivery });
    attach(0, { onChange: ({ sequence }) => void deliveries.push(`change ${sequence}`) });
    feed.handleChange(commit());
    feed.handleChange(commit(), 'trace');
    expect(deliveries).toEqual(['change 1', 'trace event_log begins', 'change 2', 'ends']);
    attach(2).leave();
    expect(feed.readers).toBe(1);
  });

  it('expires as a whole when a gap can no longer be filled, and for one reader when only that one is too far behind', async () => {
    const { store, feed, attach, commit, commitMany, deliver, counted } = fixture();
    const live = attach();
    deliver(...commitMany(5));
    store.forgetUpTo(3);
    const late = attach(2);
    await eventually(() => expect(late.ends).toEqual(['expired']));
    expect([live.ends, counted.expired]).toEqual([[], 0]);
    deliver(commit());
    expect(live.seen).toEqual(upTo(6));
    commitMany(2);
    store.forgetUpTo(8);
    feed.reach({ epoch: 1, sequence: 8 });
    await eventually(() => expect(counted.expired).toBeGreaterThan(0));
    feed.end('expired');
  });

  it('stops delivering a page to a reader that leaves in the middle of it', async () => {
    const { attach, commitMany, deliver, counted } = fixture();
    deliver(...commitMany(5));
    const seen: number[] = [];
    const { leave } = attach(0, {
      onChange({ sequence }) {
        seen.push(sequence);
        if (sequence === 2) leave();
      },
    });
    await eventually(() => expect(seen).toContain(2));
    await new Promise(setImmediate);
    expect([seen, counted.replayed]).toEqual([[1, 2], 2]);
  });

  it('requests no page that is no longer needed when its turn comes', async () => {
    const pageLimits = { fill: createLimit(), replay: createLimit() };
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const others = [pageLimits.fill(() => gate), pageLimits.replay(() => gate)];
    const { feed, store, attach, commitMany, deliver } = fixture({ pageLimits });
    attach();
    deliver(...commitMany(2));
    attach(); // starts a replay
    feed.reach({ epoch: 1, sequence: 3 });
    await new Promise(setImmediate);
    feed.end('stopped');
    open();
    await Promise.all(others);
    await new Promise(setImmediate);
    expect(store.asked.changesAfter).toBe(0);
  });

  it('delivers nothing of a page that does not begin with the next change, nor anything after a gap in a page', async () => {
    const [first, second, third] = [1, 2, 3].map((sequence) => ({ epoch: 1, sequence })) as [Change, Change, Change];
    const pages = [[second], [first, first, third], [second, third]];
    let left = [...pages];
    const changesAfter = async () => ({ epoch: 1, expired: false, changes: left.shift() ?? [] });
    const { feed, attach, counted } = fixture({ changesAfter });
    const { seen } = attach();
    feed.reach({ epoch: 1, sequence: 3 });
    await eventually(() => expect(seen).toEqual([1, 2, 3]));
    left = [...pages];
    const late = attach();
    await eventually(() => expect(late.seen).toEqual([1, 2, 3]));
    expect(counted.replayed).toBe(3);
  });

  describe('over time', () => {
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    it('retries with growing pauses of up to a second while requests fail, and not after its end', async () => {
      let asked = 0;
      const { feed, attach, logged } = fixture({ changesAfter: () => (asked++, Promise.reject(new Error('away'))) });
      attach();
      feed.reach({ epoch: 1, sequence: 1 });
      const timesIn = async (ms: number) => {
        asked = 0;
        await jest.advanceTimersByTimeAsync(ms);
        return asked;
      };
      expect(await timesIn(49)).toBe(1);
      expect(await timesIn(1)).toBe(1);
      expect(await timesIn(99)).toBe(0);
      expect(await timesIn(1_500)).toBe(4); // after 100, 200, 400 and 800 ms
      expect(await timesIn(10_000)).toBe(10);
      expect(logged.at(-1)).toMatchObject({ msg: 'changes could not be read; trying again', err: { message: 'away' } });
      feed.end('stopped');
      expect(await timesIn(10_000)).toBe(0);
    });

    it('retries a replay with pauses, too, and pauses only after failures', async () => {
      const { attach, commitMany, deliver, store } = fixture();
      deliver(...commitMany(30));
      store.setUnavailable(true);
      const { seen } = attach();
      await jest.advanceTimersByTimeAsync(49);
      store.setUnavailable(false);
      expect(seen).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
      expect(seen).toEqual(upTo(7));
      await jest.advanceTimersByTimeAsync(100);
      expect(seen).toEqual(upTo(30));
    });

    it('keeps a page for a moment while a replaying reader is not ready, and fetches it again after that', async () => {
      const { attach, commitMany, deliver, store } = fixture();
      deliver(...commitMany(5));
      const replay = async (pauseMs: number) => {
        store.asked.changesAfter = 0;
        let hasPaused = false;
        const reader = createReader();
        const drained = async () => {
          if (reader.seen.length < 3 || hasPaused) return;
          hasPaused = true;
          await pause(pauseMs);
        };
        const { seen } = attach(0, { ...reader, drained });
        await jest.advanceTimersByTimeAsync(1_000);
        expect(seen).toEqual(upTo(5));
        return store.asked.changesAfter;
      };
      expect(await replay(99)).toBe(1);
      expect(await replay(101)).toBe(2);
    });

    it('requests fewer changes for a reader that accepts only a few of a page', async () => {
      const { attach, commitMany, deliver, store } = fixture({}, 100);
      deliver(...commitMany(100));
      const { changesAfter } = store;
      let fetched = 0;
      store.changesAfter = async (...asked) => {
        const page = await changesAfter(...asked);
        fetched += page.changes.length;
        return page;
      };
      const { seen } = attach(0, { drained: () => pause(60) });
      await jest.advanceTimersByTimeAsync(30_000);
      expect(seen).toEqual(upTo(100));
      expect(fetched).toBeLessThan(400);
    });
  });

  it.each([
    ['leaves as much time between the pages of a replay as they kept the event loop', 0, 60, [118, Infinity]],
    ['does not wait between the pages of a replay for as long as the store took', 200, 0, [199, 300]],
  ] as const)('%s', async (_title, waitMs, workMs, [least, most]) => {
    const { attach, commitMany, deliver, store } = fixture();
    deliver(...commitMany(28));
    const { changesAfter } = store;
    const begunMs: number[] = [];
    store.changesAfter = async (...asked) => {
      begunMs.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const until = performance.now() + workMs;
      while (performance.now() < until);
      return changesAfter(...asked);
    };
    const { seen } = attach();
    await eventually(() => expect(seen).toEqual(upTo(28)));
    const shortestMs = Math.min(...begunMs.slice(1).map((at, before) => at - (begunMs[before] ?? 0)));
    expect(shortestMs).toBeGreaterThanOrEqual(least);
    expect(shortestMs).toBeLessThan(most);
  });
});

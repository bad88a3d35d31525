import { jest } from '@jest/globals';
import type { TaskChanged } from '@taskmesh/contracts';
import { createRecordingLog } from '@taskmesh/service/testing';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { createReader, createStore, upTo } from '../../tests/fakes/change-store.ts';
import { OwnerFeed } from './owner-feed.ts';

/** One owner's feed at the beginning of the log, without a comparison of heads, and everything it emits. */
function fixture(options: Partial<ConstructorParameters<typeof OwnerFeed>[0]> = {}, mostAtOnce?: number) {
  const owner = randomUUID();
  const store = createStore({ mostAtOnce });
  const { log, lines: logged } = createRecordingLog('debug');
  const arrived: string[] = [];
  const counted = { gaps: 0, replayed: 0, expired: 0, epochs: [] as number[] };
  const feed = new OwnerFeed({
    owner,
    start: { epoch: 1, sequence: 0 },
    tasks: store.tasks,
    log,
    metrics: {
      arrived: ({ sequence }, way) => arrived.push(`${sequence} ${way}`),
      gapFilled: () => counted.gaps++,
      resumed: () => undefined,
      replayed: (count) => (counted.replayed += count),
    },
    beginDelivery: () => undefined,
    pageLimits: { fill: pLimit(1), replay: pLimit(1) },
    drainWithinMs: 60_000,
    onEpoch: (epoch) => counted.epochs.push(epoch),
    onExpired: () => counted.expired++,
    ...options,
  });
  const attach = (sequence = 0) => {
    const reader = createReader();
    return { ...reader, leave: feed.attach(reader, { epoch: 1, sequence }) };
  };
  const commit = () => store.commit(owner);
  const commitMany = (count: number) => Array.from({ length: count }, commit);
  const deliver = (...changes: TaskChanged[]) => changes.forEach((change) => feed.handleChange(change));
  return { owner, store, feed, logged, arrived, counted, attach, commit, commitMany, deliver };
}

describe('an owner’s feed', () => {
  it('expires as a whole when a gap can no longer be filled, and for one reader when only that one is too far behind', async () => {
    const { owner, store, feed, attach, commit, commitMany, deliver, counted } = fixture();
    const live = attach();
    deliver(...commitMany(5));
    store.forgetUpTo(owner, 3);
    const late = attach(2);
    await eventually(() => expect(late.ends).toEqual(['expired']));
    expect([live.ends, counted.expired]).toEqual([[], 0]);
    deliver(commit());
    expect(live.seen).toEqual(upTo(6));
    commitMany(2);
    store.forgetUpTo(owner, 8);
    feed.reach({ epoch: 1, sequence: 8 });
    await eventually(() => expect(counted.expired).toBeGreaterThan(0));
    feed.end('expired');
  });

  it('stops delivering a page to a reader that leaves in the middle of it', async () => {
    const { feed, commitMany, deliver, counted } = fixture();
    deliver(...commitMany(5));
    const seen: number[] = [];
    const leave = feed.attach(
      {
        ...createReader(),
        onChange({ sequence }) {
          seen.push(sequence);
          if (sequence === 2) leave();
        },
      },
      { epoch: 1, sequence: 0 },
    );
    await eventually(() => expect(seen).toContain(2));
    await new Promise(setImmediate);
    expect([seen, counted.replayed]).toEqual([[1, 2], 2]);
  });

  it('requests no page that is no longer needed when its turn comes', async () => {
    const pageLimits = { fill: pLimit(1), replay: pLimit(1) };
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
    const store = createStore();
    const [first, second, third] = [store.commit('one'), store.commit('one'), store.commit('one')];
    const pages = [[second], [first, first, third], [second, third]];
    let left = [...pages];
    const changesAfter = async () => ({ epoch: 1, expired: false, changes: left.shift() ?? [] });
    const { feed, attach, counted } = fixture({ tasks: { changesAfter } });
    const { seen } = attach();
    feed.reach({ epoch: 1, sequence: 3 });
    await eventually(() => expect(seen).toEqual([1, 2, 3]));
    left = [...pages];
    const late = attach();
    await eventually(() => expect(late.seen).toEqual([1, 2, 3]));
    expect(counted.replayed).toBe(3);
  });

  describe('over time', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    it('retries with growing pauses of up to a second while requests fail, and not after its end', async () => {
      let asked = 0;
      const changesAfter = () => (asked++, Promise.reject(new Error('away')));
      const { feed, attach, logged } = fixture({ tasks: { changesAfter } });
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
      expect(seen).toEqual(upTo(30));
    });

    it('keeps a page for a moment while a replaying reader is not ready, and fetches it again after that', async () => {
      const { feed, commitMany, deliver, store } = fixture();
      deliver(...commitMany(5));
      const replay = async (pauseMs: number) => {
        store.asked.changesAfter = 0;
        const reader = createReader();
        let hasPaused = false;
        const drained = async () => {
          if (reader.seen.length < 3 || hasPaused) return;
          hasPaused = true;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        };
        feed.attach({ ...reader, drained }, { epoch: 1, sequence: 0 });
        await jest.advanceTimersByTimeAsync(1_000);
        expect(reader.seen).toEqual(upTo(5));
        return store.asked.changesAfter;
      };
      expect(await replay(99)).toBe(1);
      expect(await replay(101)).toBe(2);
    });

    it('requests fewer changes for a reader that accepts only a few of a page', async () => {
      const { feed, commitMany, deliver, store } = fixture({}, 100);
      deliver(...commitMany(100));
      const { changesAfter } = store.tasks;
      let fetched = 0;
      store.tasks.changesAfter = async (...asked) => {
        const page = await changesAfter(...asked);
        fetched += page.changes.length;
        return page;
      };
      const reader = createReader();
      const drained = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
      feed.attach({ ...reader, drained }, { epoch: 1, sequence: 0 });
      await jest.advanceTimersByTimeAsync(30_000);
      expect(reader.seen).toEqual(upTo(100));
      expect(fetched).toBeLessThan(400);
    });

    it('leaves as much time between the pages of a replay as each of them took', async () => {
      const { feed, commitMany, deliver, store } = fixture();
      deliver(...commitMany(21));
      const { changesAfter } = store.tasks;
      const begunMs: number[] = [];
      store.tasks.changesAfter = async (...asked) => {
        begunMs.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 50));
        return changesAfter(...asked);
      };
      const reader = createReader();
      feed.attach(reader, { epoch: 1, sequence: 0 });
      await jest.advanceTimersByTimeAsync(250);
      expect(reader.seen).toEqual(upTo(21)); // the reader itself does not wait after the last one
      expect(begunMs.map((at) => at - (begunMs[0] ?? 0))).toEqual([0, 100, 200]);
    });
  });
});

import type { TasksInternal } from '@taskmesh/internal-api';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createReader, createStore, readFeed, startFeed, type ChangeStore } from '../../tests/fakes/change-store.ts';
import type { FeedOptions } from './feed.ts';

const EVERY_MS = 60_000;

describe('requests of the feed to the tasks service', () => {
  let store: ChangeStore;
  /** The owners of each call of `heads`. */
  let questions: string[][];
  let logged: string[];

  const start = (options: Partial<FeedOptions> = {}) => {
    const tasks: TasksInternal = {
      ...store.tasks,
      heads(owners, asCursors) {
        questions.push(owners);
        return store.tasks.heads(owners, asCursors);
      },
    };
    const write = (line: string) => logged.push((JSON.parse(line) as { msg: string }).msg);
    const log = createLog({ service: 'test', level: 'debug', destination: { write } });
    return startFeed(store, { tasks, log, headsEveryMs: EVERY_MS, ...options });
  };

  beforeEach(() => {
    store = createStore();
    [questions, logged] = [[], []];
  });

  describe('at regular times', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
    afterEach(() => jest.useRealTimers());

    it('are not sent without readers, nor after the stop', async () => {
      const feed = await start();
      await jest.advanceTimersByTimeAsync(EVERY_MS);
      expect(questions).toEqual([]);
      const owner = randomUUID();
      await readFeed(feed, owner);
      await jest.advanceTimersByTimeAsync(EVERY_MS);
      expect(questions).toEqual([[owner], [owner]]);
      const answer = store.respondLate('heads');
      await jest.advanceTimersByTimeAsync(EVERY_MS);
      await feed.stop();
      answer.come();
      await jest.advanceTimersByTimeAsync(EVERY_MS);
      expect(questions).toHaveLength(3);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('do not report unreadable records once the gateway stops', async () => {
      let tries = 0;
      const reportUnreadable = () => (tries++, Promise.reject(new Error('away')));
      const feed = await start({ tasks: { ...store.tasks, reportUnreadable } });
      const owner = randomUUID();
      await readFeed(feed, owner);
      store.deliverText(owner, '{');
      await jest.advanceTimersByTimeAsync(2_000);
      expect(tries).toBe(2);
      await feed.stop();
      await jest.advanceTimersByTimeAsync(10_000);
      expect(tries).toBe(2);
    });

    it('report as many unreadable records as are kept, and the log mentions once that one was dropped', async () => {
      const feed = await start();
      const owner = randomUUID();
      await readFeed(feed, owner);
      for (let count = 0; count < 102; count++) store.deliverText(owner, '{');
      await jest.advanceTimersByTimeAsync(20_000);
      expect(store.unreadable).toHaveLength(101);
      expect(logged.filter((message) => message.startsWith('further records'))).toHaveLength(1);
    });

    it('fetch the heads of all owners, each once, by the thousand', async () => {
      const feed = await start();
      const owners = Array.from({ length: 2_001 }, () => randomUUID());
      for (const owner of owners) await readFeed(feed, owner);
      questions = [];
      await jest.advanceTimersByTimeAsync(EVERY_MS);
      expect(questions.map(({ length }) => length)).toEqual([1_000, 1_000, 1]);
      expect(questions.flat()).toEqual(owners);
    });
  });

  it("are few for one owner's readers, and for all that begin, so that others need not wait", async () => {
    let held = 0;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const heads: TasksInternal['heads'] = async (...asked) => {
      held++;
      await released;
      return store.tasks.heads(...asked);
    };
    const feed = await start({ tasks: { ...store.tasks, heads } });
    const [owner, other] = [randomUUID(), randomUUID()];
    const readers = Array.from({ length: 100 }, () => readFeed(feed, owner));
    readers.push(readFeed(feed, other));
    await eventually(() => expect(held).toBe(4 + 1));
    readers.push(...Array.from({ length: 100 }, () => readFeed(feed, randomUUID())));
    await eventually(() => expect(held).toBe(16));
    const leaving = new AbortController();
    const left = Array.from({ length: 10 }, () =>
      feed.subscribe(owner, undefined, { ...createReader(), signal: leaving.signal }),
    );
    const outcomes = Promise.allSettled(left);
    leaving.abort();
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']));
    release();
    await Promise.all(readers);
    expect(held).toBe(201);
  });

  it("compare heads early for an epoch that is not the store's, at most twice a second, until it is confirmed", async () => {
    const feed = await start();
    const owner = randomUUID();
    const reader = await readFeed(feed, owner);
    questions = [];
    const claim = () => store.deliverText(owner, JSON.stringify({ ...store.makeChange(owner, 1), epoch: 2 }));
    const answer = store.respondLate('heads');
    for (let times = 0; times < 1_000; times++) claim();
    await answer.asked;
    answer.come();
    await eventually(() =>
      expect(store.unreadable).toMatchObject([{ key: owner, reason: 'The store did not write this record.' }]),
    );
    expect(questions).toEqual([[owner]]);
    const begun = performance.now();
    await eventually(() => (claim(), expect(questions).toHaveLength(2)));
    expect(performance.now() - begun).toBeGreaterThan(300);
    store.setUnavailable(true);
    await eventually(() => (claim(), expect(logged).toContain('heads could not be compared')));
    store.setUnavailable(false);
    store.restore();
    await eventually(() => (claim(), expect(reader.ends).toEqual(['expired'])));
  });
});

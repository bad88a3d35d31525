import type { TasksInternal } from '@taskmesh/internal-api';
import { collectGarbage, createSlowWork, eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import {
  createReader,
  createStore,
  readFeed,
  startFeed,
  upTo,
  type ChangeStore,
} from '../../tests/fakes/change-store.ts';
import type { Feed, OwnerReader } from './feed.ts';

const CHANGES = 250;

/** Accepts this many changes, then no more, without disconnecting. */
function createStuckReader(most: number) {
  const reader = createReader();
  const { promise: never, resolve } = Promise.withResolvers<void>();
  const drained = () => (reader.seen.length < most ? Promise.resolve() : never);
  // Returned so that it stays reachable: otherwise everything that waits for it could be collected as garbage.
  return { ...reader, drained, resolve };
}

describe('replays', () => {
  let store: ChangeStore;
  let feed: Feed;
  let given: WeakRef<object>[];
  let running: number;
  let mostRunning: number;
  /** Pages arrive only once this resolves. */
  let gate: Promise<void>;

  const begin = async (options: { drainWithinMs?: number } = {}) => {
    const tasks: TasksInternal = {
      ...store.tasks,
      async changesAfter(owner, sequence, limit) {
        if (limit === 1) return store.tasks.changesAfter(owner, sequence, limit);
        mostRunning = Math.max(mostRunning, ++running);
        await gate;
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        const page = structuredClone(await store.tasks.changesAfter(owner, sequence, limit));
        given.push(...page.changes.map((change) => new WeakRef(change)));
        return page;
      },
    };
    feed = await startFeed(store, { tasks, ...options });
  };
  const held = () => given.filter((change) => change.deref() !== undefined).length;
  const withChanges = (count = CHANGES) => {
    const owner = randomUUID();
    for (let index = 0; index < count; index++) store.commit(owner);
    return owner;
  };
  const replayTo = async <Reader extends OwnerReader>(owner: string, readers: Reader[]) => {
    for (const reader of readers) await feed.subscribe(owner, store.cursor(owner, 0), reader);
    return readers;
  };
  const several = <Made>(count: number, make: () => Made) => Array.from({ length: count }, make);
  const stuckReaders = (most: number) => several(20, () => createStuckReader(most));

  beforeEach(() => {
    store = createStore({ mostAtOnce: 500 });
    given = [];
    running = mostRunning = 0;
    gate = Promise.resolve();
  });

  it('hold no pages while their readers do not read', async () => {
    await begin();
    const readers = await replayTo(withChanges(), stuckReaders(5));
    await eventually(() => expect(readers.map(({ seen }) => seen.length)).toEqual(readers.map(() => 5)));
    expect(given.length).toBeGreaterThan(20 * 5);
    await eventually(() => {
      collectGarbage();
      expect(held()).toBe(0);
    });
    expect(readers.flatMap(({ ends }) => ends)).toEqual([]);
    for (const { resolve } of readers) resolve();
  });

  it('do not wait for stuck replays of another account', async () => {
    await begin();
    const stuck = await replayTo(withChanges(), stuckReaders(0));
    const [other] = await replayTo(withChanges(), [createReader()]);
    await eventually(() => expect(other?.seen).toEqual(upTo(CHANGES)));
    expect(stuck.flatMap(({ seen }) => seen)).toEqual([]);
  });

  it('run one at a time for one account, and all of them finish', async () => {
    await begin();
    const readers = await replayTo(withChanges(), several(20, createReader));
    await eventually(() => {
      for (const { seen } of readers) expect(seen).toEqual(upTo(CHANGES));
    });
    expect(mostRunning).toBe(1);
  });

  it('hold four pages at most for all accounts together, and do not delay live readers', async () => {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gate = promise;
    await begin();
    const owners = several(40, () => withChanges(3));
    const readers = await Promise.all(owners.map((owner) => replayTo(owner, [createReader()])));
    await eventually(() => expect(running).toBe(4));
    const owner = withChanges(0);
    const reader = await readFeed(feed, owner);
    store.commit(owner);
    store.deliver(store.commit(owner));
    await eventually(() => expect(running).toBe(5));
    open();
    await eventually(() => {
      for (const { seen } of readers.flat()) expect(seen).toEqual(upTo(3));
      expect(reader.seen).toEqual([1, 2]);
    });
    expect(mostRunning).toBeLessThanOrEqual(17);
  });

  it('end as too slow when their reader accepts nothing for too long; others continue', async () => {
    await begin({ drainWithinMs: 50 });
    const owner = withChanges();
    const [stuck, sound] = await replayTo(owner, [createStuckReader(7), createReader()]);
    await eventually(() => expect(stuck?.ends).toEqual(['slow']));
    await eventually(() => expect(sound?.seen).toEqual(upTo(CHANGES)));
    store.deliver(store.commit(owner));
    await eventually(() => expect(sound?.seen.length).toBe(CHANGES + 1));
    expect(stuck?.seen).toEqual(upTo(7));
    expect(sound?.ends).toEqual([]);
  });

  it.each(['replays', 'gaps'])(
    'let other work run while %s are processed slowly, which takes half of the time at most',
    async (way) => {
      await begin();
      const owner = withChanges(way === 'gaps' ? 0 : CHANGES);
      const { work, done } = createSlowWork();
      const endsMs: number[] = [];
      const reader: OwnerReader = {
        ...createReader(),
        onChange() {
          work();
          endsMs.push(performance.now());
        },
      };
      await feed.subscribe(owner, way === 'gaps' ? undefined : store.cursor(owner, 0), reader);
      if (way === 'gaps')
        several(CHANGES, () => store.commit(owner))
          .slice(-1)
          .forEach(store.deliver);
      await eventually(() => expect(done.count).toBe(CHANGES));
      expect(done.mostInOneTurn).toBeLessThanOrEqual(6);
      const [endOfPage = 0, inNext = 0] = endsMs.slice(99);
      if (way === 'replays') expect(inNext - endOfPage).toBeGreaterThanOrEqual(200);
    },
  );

  it.each([
    ['replays', 3],
    ['gaps', 0],
  ])('miss no change that arrives at the very moment at which %s end', async (_what, count) => {
    await begin();
    for (let moment = 0; moment < 40; moment++) {
      const owner = withChanges(count);
      const reader = createReader();
      const last = count === 0 ? 2 : count;
      const deliverSoon = async () => {
        for (let step = 0; step < moment; step++) await Promise.resolve();
        store.deliver(store.commit(owner));
      };
      const watching: OwnerReader = {
        ...reader,
        onChange(change) {
          reader.onChange(change);
          if (change.sequence === last) void deliverSoon();
        },
      };
      const detach = await feed.subscribe(owner, count === 0 ? undefined : store.cursor(owner, 0), watching);
      if (count === 0) {
        store.commit(owner); // lost by the event log
        store.deliver(store.commit(owner));
      }
      await eventually(() => expect(reader.seen).toEqual(upTo(last + 1)));
      detach();
    }
  });
});

import type { TaskChanged } from '@taskmesh/contracts';
import { atEnd, eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import {
  createReader,
  createStore,
  readFeed,
  readLate,
  startFeed,
  upTo,
  type ChangeStore,
} from '../../tests/fakes/change-store.ts';
import type { Feed } from './feed.ts';

let store: ChangeStore;
let feed: Feed;
const [owner, bystander] = [randomUUID(), randomUUID()];

beforeEach(async () => {
  store = createStore();
  feed = await startFeed(store, { headsEveryMs: 20 });
});

const commit = (count: number) => Array.from({ length: count }, () => store.commit(owner));

describe('the feed of a gateway, when a response predates a restore and arrives after it', () => {
  /** Restores the store, and makes this gateway notice the new epoch. */
  const restore = async () => {
    store.restore();
    const { detach, ...reader } = await readFeed(feed, bystander);
    store.deliver(store.commit(bystander));
    await eventually(() => expect(reader.seen).toEqual([1]));
    detach();
  };

  it('ignores a head of the old epoch', async () => {
    commit(100);
    await readFeed(feed, owner);
    const comparison = store.respondLate('heads');
    await comparison.asked;
    await restore();
    const reader = await readFeed(feed, owner);
    comparison.come();
    const { heads } = store.asked;
    await eventually(() => expect(store.asked.heads).toBeGreaterThan(heads));
    for (const change of commit(3)) store.deliver(change);
    await eventually(() => expect(reader.seen).toEqual(upTo(3)));
    expect(store.asked.changesAfter).toBe(0);
  });

  it('starts a reader that was being attached in the new epoch, without missing a change or reporting an old one', async () => {
    commit(100);
    const { come, ...reader } = await readLate(store, feed, owner);
    for (const change of commit(1)) store.deliver(change);
    await restore();
    await come();
    for (const change of commit(102)) store.deliver(change);
    await eventually(() => expect(reader.seen).toEqual(upTo(102)));
    const { heads } = store.asked;
    await eventually(() => expect(store.asked.heads).toBeGreaterThan(heads + 1));
    expect(store.unreadable).toEqual([]);
  });

  it('rejects a cursor that was opened before the restore', async () => {
    commit(5);
    for (const late of ['openCursor', 'heads', 'changesAfter'] as const) {
      commit(5);
      const answer = store.respondLate(late);
      const subscribing = feed.subscribe(owner, store.cursor(owner, 3), createReader());
      const refused = expect(subscribing).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
      await answer.asked;
      await restore();
      answer.come();
      await refused;
    }
  });

  it('delivers no page of the old epoch', async () => {
    await readFeed(feed, owner);
    const page = store.respondLate('changesAfter');
    commit(3);
    await page.asked;
    await restore();
    const reader = await readFeed(feed, owner);
    page.come();
    commit(2);
    await eventually(() => expect(reader.epochs).toEqual([2, 2]));
  });

  it('ends the old feed at a page of the new epoch, without delivering it', async () => {
    const reader = await readFeed(await startFeed(store), owner);
    store.setUnavailable(true);
    const [, second] = commit(2);
    if (second) store.deliver(second); // leaves a gap that cannot be filled before the restore
    store.restore();
    commit(2);
    store.setUnavailable(false);
    await eventually(() => expect(reader.ends).toEqual(['expired']));
    expect(reader.seen).toEqual([]);
  });

  it('refuses a reader that is being attached while the gateway stops', async () => {
    const placing = store.respondLate('heads');
    const subscribing = feed.subscribe(owner, undefined, createReader());
    const refused = expect(subscribing).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await placing.asked;
    await feed.stop();
    placing.come();
    await refused;
    expect(feed.owners()).toBe(0);
  });

  it('requests nothing for a feed without a reader, even if changes are missing', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    atEnd(() => jest.useRealTimers());
    const { detach } = await readFeed(feed, owner);
    commit(1);
    const page = store.respondLate('changesAfter');
    const [, second] = commit(2);
    if (second) store.deliver(second);
    await page.asked;
    store.restore();
    detach();
    page.come();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(store.asked.changesAfter).toBe(1);
  });
});

describe('the feed of a gateway, when the store lost changes that were delivered', () => {
  it('ends all feeds, because new changes reuse the numbers of lost ones, and serves readers that start again', async () => {
    const readers = { owner: await readFeed(feed, owner), bystander: await readFeed(feed, bystander) };
    for (const change of commit(5)) store.deliver(change);
    store.deliver(store.commit(bystander));
    expect(readers.owner.seen).toEqual(upTo(5));
    store.lose(owner, 2);
    await eventually(() => expect([readers.owner.ends, readers.bystander.ends]).toEqual([['expired'], ['expired']]));
    const later = await readFeed(feed, owner);
    store.deliver(store.commit(owner));
    await eventually(() => expect(later.seen).toEqual([4]));
    expect(later.ends).toEqual([]);
  });

  it('does not take a response for a loss that predates the last delivered changes', async () => {
    const reader = await readFeed(feed, owner);
    const comparison = store.respondLate('heads');
    await comparison.asked;
    for (const change of commit(5)) store.deliver(change);
    comparison.come();
    const { heads } = store.asked;
    await eventually(() => expect(store.asked.heads).toBeGreaterThan(heads + 1));
    expect([reader.seen, reader.ends]).toEqual([upTo(5), []]);
  });
});

describe('the feed of a gateway, when records are not of its store', () => {
  let readers: Record<'owner' | 'bystander', Awaited<ReturnType<typeof readFeed>>>;
  const forge = (key: string, change: Partial<TaskChanged>, of = key) =>
    store.deliverText(key, JSON.stringify({ ...store.makeChange(of, 1), ...change }));

  beforeEach(async () => {
    readers = { owner: await readFeed(feed, owner), bystander: await readFeed(feed, bystander) };
  });

  const expectReported = () =>
    eventually(() =>
      expect(store.unreadable).toMatchObject([{ key: owner, reason: 'The store did not write this record.' }]),
    );
  const expectToGoOn = async () => {
    store.deliver(store.commit(owner));
    store.deliver(store.commit(bystander));
    await eventually(() => expect([readers.owner.seen, readers.bystander.seen]).toEqual([[1], [1]]));
    expect([...readers.owner.ends, ...readers.bystander.ends]).toEqual([]);
  };

  it('keeps all feeds when a change has an unknown epoch, and reports the record', async () => {
    forge(owner, { epoch: 9 });
    forge(owner, { epoch: 0 }); // predates a restore: is not doubted
    await expectReported();
    await expectToGoOn();
  });

  it('accepts a new key of the store within an epoch', async () => {
    await feed.stop();
    let hasLoaded = false;
    const heads: typeof store.tasks.heads = async (...args) => {
      const state = await store.tasks.heads(...args);
      return hasLoaded ? state : { ...state, cursorKey: Buffer.alloc(32, 7).toString('base64') };
    };
    feed = await startFeed(store, { tasks: { ...store.tasks, heads }, headsEveryMs: 20 });
    const reader = await readFeed(feed, owner);
    const compareOften = async () => {
      const { heads } = store.asked;
      await eventually(() => expect(store.asked.heads).toBeGreaterThan(heads + 2));
    };
    hasLoaded = true;
    await compareOften();
    store.deliver(store.commit(owner));
    await eventually(() => expect(reader.seen).toEqual([1]));
    await compareOften();
    expect(store.unreadable).toEqual([]);
  });

  it('does not refuse new readers because of an unknown epoch', async () => {
    const fresh = randomUUID();
    const { come, ...reader } = await readLate(store, feed, fresh);
    forge(fresh, { epoch: 9 });
    await come();
    store.deliver(store.commit(fresh));
    await eventually(() => expect(reader.seen).toEqual([1]));
  });

  it.each([
    ['another owner', (change: TaskChanged) => change],
    ["another owner's task", (change: TaskChanged) => ({ ...change, ownerId: bystander })],
    [
      "another owner's former task",
      (change: TaskChanged) => ({ ...store.makeChange(bystander, 1), previous: change.task }),
    ],
  ])('delivers no change whose key is not its owner: %s', async (_, of) => {
    store.deliverText(bystander, JSON.stringify(of(store.makeChange(owner, 1))));
    await eventually(() =>
      expect(store.unreadable).toMatchObject([{ key: bystander, reason: /key is not the owner/ }]),
    );
    await expectToGoOn();
  });

  it.each([
    ['the next number and a cursor of another store', { cursor: 'x'.repeat(36) }],
    ['a number beyond its cursor', { sequence: 1_000 }],
    ['a cursor that the store signed for another number', { cursor: 'second' }],
  ])(
    'neither delivers nor skips a change for %s, and ends no feed',
    async (_, { cursor, ...change }: Partial<TaskChanged>) => {
      forge(owner, { ...change, ...(cursor && { cursor: cursor === 'second' ? store.cursor(owner, 2) : cursor }) });
      await expectReported();
      expect(readers.owner.seen).toEqual([]);
      expect(store.asked.changesAfter).toBe(0);
      await expectToGoOn();
    },
  );

  it('ignores a repetition with other content and the same signed cursor', async () => {
    const [forged, real] = [store.makeChange(owner, 1), store.commit(owner)];
    store.deliver(real);
    store.deliverText(owner, JSON.stringify({ ...forged, cursor: real.cursor }));
    store.deliver(store.commit(owner));
    await eventually(() => expect(readers.owner.seen).toEqual([1, 2]));
    expect(readers.owner.ids[0]).toBe(real.task.id);
  });

  it('delivers a change even if a forged one arrived just before it', async () => {
    const [forged, real] = [store.makeChange(owner, 1), store.commit(owner)];
    store.deliverText(owner, JSON.stringify({ ...forged, cursor: store.cursor(bystander, 1) }));
    store.deliver(real);
    store.deliver(store.commit(owner));
    await eventually(() => expect(readers.owner.seen).toEqual([1, 2]));
    expect(readers.owner.ids).toEqual([real.task.id, expect.any(String)]);
  });

  it('stops waiting for changes that the store signed and has lost', async () => {
    const reader = await readFeed(await startFeed(store), owner);
    store.deliver(store.makeChange(owner, 1_000));
    await new Promise(setImmediate);
    for (const change of commit(2)) store.deliver(change);
    expect(reader.seen).toEqual([1, 2]);
    expect(store.asked.changesAfter).toBe(1);
  });
});

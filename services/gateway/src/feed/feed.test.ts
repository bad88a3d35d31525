import { unavailable, type TaskChanged } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
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

let store: ChangeStore;
beforeEach(() => void (store = createStore()));

const owner = randomUUID();

describe('the changes of an owner', () => {
  it("rejects malformed cursors, other owners' cursors, those of another epoch and those before the kept changes alike", async () => {
    const feed = await startFeed(store, { headsEveryMs: 30 });
    const other = randomUUID();
    for (let count = 0; count < 5; count++) store.commit(owner);
    store.forgetUpTo(owner, 3);
    const forgotten = store.cursor(owner, 2);
    for (const cursor of ['nonsense', store.cursor(other, 0), `${owner}|7|1`, store.cursor(owner, 100_000), forgotten])
      await expect(feed.subscribe(owner, cursor, createReader())).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('delivers the change of an unreadable record anyway, and reports the record once the service is available', async () => {
    const reader = await readFeed(await startFeed(store), owner);
    for (const text of ['{', JSON.stringify({ ...store.commit(owner), task: null })]) store.deliverText(owner, text);
    await eventually(() => expect(reader.seen).toEqual([1]));
    store.deliver(store.commit(owner));
    await eventually(() => expect(reader.seen).toEqual([1, 2]));
    await eventually(() => expect(store.unreadable.map(({ key }) => key)).toEqual([owner, owner]));
    expect(store.unreadable[0]).toMatchObject({ value: '{', reason: expect.stringContaining('JSON') });
    store.deliverText(randomUUID(), 'no one reads this owner here');
    expect(store.unreadable).toHaveLength(2);
  });

  it('reports only the beginning of a large unreadable record, which fits in a request', async () => {
    await readFeed(await startFeed(store), owner);
    store.deliverText(owner, '\0'.repeat(3 * 1024 * 1024));
    await eventually(() => expect(store.unreadable).toHaveLength(1));
    expect(JSON.stringify(store.unreadable).length).toBeLessThan(512 * 1024);
  });

  it('delivers the next changes at once while missing ones are being fetched, and none twice', async () => {
    const reader = await readFeed(await startFeed(store), owner);
    const changes = [store.commit(owner), store.commit(owner), store.commit(owner)];
    const { asked, come } = store.respondLate('changesAfter');
    store.deliver(changes[1] as TaskChanged);
    await asked;
    for (const change of changes) store.deliver(change);
    expect(reader.seen).toEqual([1, 2, 3]);
    come();
    store.deliver(store.commit(owner));
    await new Promise((resolve) => setImmediate(resolve));
    expect(reader.seen).toEqual([1, 2, 3, 4]);
  });

  it('ends a reader that fails on a change, and delivers it to the others', async () => {
    const feed = await startFeed(store, { headsEveryMs: 30 });
    const faulty = createReader();
    await feed.subscribe(owner, undefined, {
      ...faulty,
      onChange: () => {
        throw new Error('a faulty reader');
      },
    });
    const sound = await readFeed(feed, owner);
    store.deliver(store.commit(owner));
    store.deliver(store.commit(owner));
    await eventually(() => expect(sound.seen).toEqual([1, 2]));
    expect(faulty.ends).toEqual(['stopped']);
  });
});

describe('a new reader', () => {
  it('makes the feed catch up with changes that the event log lost', async () => {
    const feed = await startFeed(store);
    const first = await readFeed(feed, owner);
    store.commit(owner);
    await readFeed(feed, owner);
    await eventually(() => expect(first.seen).toEqual([1]));
  });

  it('waits for a tasks service that is briefly unavailable', async () => {
    let tries = 0;
    const heads: typeof store.tasks.heads = (...question) =>
      ++tries < 3 ? Promise.reject(unavailable()) : store.tasks.heads(...question);
    const reader = await readFeed(await startFeed(store, { tasks: { ...store.tasks, heads } }), owner);
    store.deliver(store.commit(owner));
    expect([tries, reader.seen]).toEqual([3, [1]]);
  });

  it('may take longer while others can begin, as when thousands resume at once', async () => {
    let [nowMs, failures] = [performance.now(), 2];
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const heads: typeof store.tasks.heads = (owners, ...question) => {
      nowMs += 3_000;
      return owners.includes(owner) && failures-- > 0
        ? Promise.reject(unavailable())
        : store.tasks.heads(owners, ...question);
    };
    const feed = await startFeed(store, { tasks: { ...store.tasks, heads }, headsEveryMs: 60_000 });
    const last = readFeed(feed, owner);
    for (let others = 0; others < 8; others++) await readFeed(feed, randomUUID());
    expect(failures).toBe(1);
    await last;
    clock.mockRestore();
  });
});

describe('a reader without a cursor', () => {
  it('receives one cursor, of the new epoch, when the store is restored meanwhile', async () => {
    const feed = await startFeed(store);
    store.commit(owner);
    const { come, ...reader } = await readLate(store, feed, owner);
    store.restore();
    await readFeed(feed, owner); // makes this gateway notice the restore
    await come();
    expect(reader.begunAt).toEqual([store.cursor(owner, 0)]);
  });

  it('reads changes even if a tasks service of the previous release reports no cursor', async () => {
    const feed = await startFeed(store, { tasks: { ...store.tasks, heads: (owners) => store.tasks.heads(owners) } });
    const reader = await readFeed(feed, owner);
    store.deliver(store.commit(owner));
    expect([reader.begunAt, reader.seen]).toEqual([[], [1]]);
  });

  it.each([
    ['over the event log', true, false, 1],
    ['and the event log never brought', false, false, 1],
    ['even if another one came and left', true, true, 1],
    ['as the first of all, even if another one came and left', true, true, 0],
  ])('misses no change committed meanwhile %s', async (_how, isDelivered, hasOther, before) => {
    const feed = await startFeed(store);
    for (let count = 0; count < before; count++) store.commit(owner);
    const { come, ...reader } = await readLate(store, feed, owner);
    if (hasOther) (await readFeed(feed, owner)).detach();
    const change = store.commit(owner);
    if (isDelivered) store.deliver(change);
    await come();
    expect(reader.begunAt).toEqual([store.cursor(owner, before)]);
    if (!isDelivered) store.deliver(store.commit(owner));
    await eventually(() => expect(reader.seen).toEqual(upTo(before + (isDelivered ? 1 : 2), before + 1)));
  });
});

describe('a reader that leaves', () => {
  it('does not affect other owners when it leaves during a comparison of heads', async () => {
    const feed = await startFeed(store, { headsEveryMs: 20 });
    const { detach } = await readFeed(feed, randomUUID());
    const reader = await readFeed(feed, owner);
    const [comparison, next] = [store.respondLate('heads'), store.respondLate('heads')];
    store.commit(owner);
    await comparison.asked;
    detach();
    comparison.come();
    await eventually(() => expect(reader.seen).toEqual([1]));
    next.come();
  });

  it('does not affect a newer feed when it leaves after the end of its own', async () => {
    const feed = await startFeed(store);
    const { detach, ...before } = await readFeed(feed, owner);
    store.restore();
    const after = await readFeed(feed, owner);
    expect(before.ends).toEqual(['expired']);
    detach();
    store.deliver(store.commit(owner));
    expect([after.seen, feed.owners()]).toEqual([[1], 1]);
  });
});

it('every reader is notified when the feed stops', async () => {
  const feed = await startFeed(store);
  const [first, second] = [await readFeed(feed, owner), await readFeed(feed, randomUUID())];
  await feed.stop();
  expect([first.ends, second.ends]).toEqual([['stopped'], ['stopped']]);
});

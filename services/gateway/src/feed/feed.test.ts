import type { TaskChanged } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createReader, createStore, upTo } from '../../tests/fakes/change-store.ts';
import { createFeed, type Feed } from './feed.ts';

const log = createLog({ service: 'test', level: 'silent' });

describe('the feed of a gateway', () => {
  const store = createStore();
  let feed: Feed;
  const owner = randomUUID();

  beforeAll(async () => {
    feed = createFeed({ ...store, log, headsEveryMs: 30 });
    await feed.start();
  });
  afterAll(() => feed.stop());

  it('delivers live changes in order, even if the event log drops, repeats and swaps them', async () => {
    const reader = createReader();
    const detach = await feed.subscribe(owner, undefined, reader);
    const late: TaskChanged[] = [];
    for (let index = 0; index < 500; index++) {
      const change = store.commit(owner);
      const luck = (index * 7919) % 10;
      if (luck < 6) store.deliver(change);
      if (luck === 4) store.deliver(change);
      if (luck === 7) late.push(change);
      if (luck === 5) for (const old of late.splice(0)) store.deliver(old);
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => expect(reader.seen).toEqual(upTo(500)));
    detach();
  });

  it('replays behind a cursor and continues live, each change once', async () => {
    const replayed = randomUUID();
    for (let index = 0; index < 40; index++) store.commit(replayed);
    const first = createReader();
    const second = createReader();
    const detachFirst = await feed.subscribe(replayed, store.cursor(replayed, 35), first);
    const subscribing = feed.subscribe(replayed, store.cursor(replayed, 3), second);
    for (let index = 0; index < 20; index++) store.deliver(store.commit(replayed));
    const detachSecond = await subscribing;
    for (let index = 0; index < 20; index++) {
      store.deliver(store.commit(replayed));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => expect(first.seen).toEqual(upTo(80, 36)));
    await eventually(() => expect(second.seen).toEqual(upTo(80, 4)));
    detachFirst();
    detachSecond();
  });

  it('refuses nonsense, foreign cursors and cursors of another epoch alike', async () => {
    const other = randomUUID();
    for (const cursor of ['nonsense', store.cursor(other, 0), `${owner}|7|1`, store.cursor(owner, 100_000)])
      await expect(feed.subscribe(owner, cursor, createReader())).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('brings what an unreadable record was about all the same, and hands that record in, once the service is there', async () => {
    const slow = createFeed({ ...store, log, headsEveryMs: 60_000 });
    await slow.start();
    const poisoned = randomUUID();
    const reader = createReader();
    await slow.subscribe(poisoned, undefined, reader);
    for (const text of ['{', JSON.stringify({ ...store.commit(poisoned), task: null })])
      store.deliverText(poisoned, text);
    await eventually(() => expect(reader.seen).toEqual([1]));
    store.deliver(store.commit(poisoned));
    await eventually(() => expect(reader.seen).toEqual([1, 2]));
    await eventually(() => expect(store.unreadable.map(({ key }) => key)).toEqual([poisoned, poisoned]));
    expect(store.unreadable[0]).toMatchObject({ value: '{', reason: expect.stringContaining('JSON') });
    store.deliverText(randomUUID(), 'no one reads this owner here');
    expect(store.unreadable).toHaveLength(2);
    await slow.stop();
  });

  it('ends a reader that fails on a change; the others get it', async () => {
    const shared = randomUUID();
    const faulty = createReader();
    const sound = createReader();
    const detachFaulty = await feed.subscribe(shared, undefined, {
      ...faulty,
      onChange: () => {
        throw new Error('a faulty reader');
      },
    });
    const detach = await feed.subscribe(shared, undefined, sound);
    store.deliver(store.commit(shared));
    store.deliver(store.commit(shared));
    await eventually(() => expect(sound.seen).toEqual([1, 2]));
    expect(faulty.ends).toEqual(['stopped']);
    detachFaulty();
    detach();
  });

  it('refuses a cursor behind which changes are no longer kept, and ends a feed that falls behind them', async () => {
    const old = randomUUID();
    for (let count = 0; count < 5; count++) store.commit(old);
    store.forgetUpTo(old, 3);
    const refused = feed.subscribe(old, store.cursor(old, 2), createReader());
    await expect(refused).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
    const reader = createReader();
    const detach = await feed.subscribe(old, store.cursor(old, 3), reader);
    await eventually(() => expect(reader.seen).toEqual([4, 5]));
    store.setAway(true);
    store.commit(old);
    store.commit(old);
    store.forgetUpTo(old, 7);
    store.setAway(false);
    await eventually(() => expect(reader.ends).toEqual(['expired']));
    detach();
  });
});

import { unavailable } from '@taskmesh/errors';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createReader, createStore } from '../../tests/fakes/change-store.ts';
import { createFeed } from './feed.ts';

const log = createLog({ service: 'test', level: 'silent' });
const SELDOM_MS = 60_000;

let store: ReturnType<typeof createStore>;
let stop: () => Promise<void>;
const startFeed = async (headsEveryMs = SELDOM_MS, tasks = store.tasks) => {
  const feed = createFeed({ ...store, tasks, log, headsEveryMs });
  await feed.start();
  stop = () => feed.stop();
  return feed;
};
beforeEach(() => (store = createStore()));
afterEach(() => stop());

const owner = randomUUID();

describe('a reader that comes', () => {
  it('brings the feed of its owner up to what the event log lost', async () => {
    const feed = await startFeed();
    const first = createReader();
    await feed.subscribe(owner, undefined, first);
    store.commit(owner);
    await feed.subscribe(owner, undefined, createReader());
    await eventually(() => expect(first.seen).toEqual([1]));
  });

  it('misses nothing that was committed while it was placed, though another one came and left meanwhile', async () => {
    const feed = await startFeed();
    const { asked, come } = store.answerLate('heads');
    const reader = createReader();
    const subscribing = feed.subscribe(owner, undefined, reader);
    await asked;
    const detach = await feed.subscribe(owner, undefined, createReader());
    detach();
    store.deliver(store.commit(owner));
    come();
    await subscribing;
    store.deliver(store.commit(owner));
    await eventually(() => expect(reader.seen).toEqual([1, 2]));
  });

  it('waits for a tasks service that is away for a moment', async () => {
    let tries = 0;
    const heads: typeof store.tasks.heads = (...question) =>
      ++tries < 3 ? Promise.reject(unavailable()) : store.tasks.heads(...question);
    const feed = await startFeed(SELDOM_MS, { ...store.tasks, heads });
    const reader = createReader();
    await feed.subscribe(owner, undefined, reader);
    store.deliver(store.commit(owner));
    expect([tries, reader.seen]).toEqual([3, [1]]);
  });

  it('is refused by a feed that has stopped', async () => {
    const feed = await startFeed();
    await feed.stop();
    await expect(feed.subscribe(owner, undefined, createReader())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(store.asked.heads).toBe(0);
  });

  it('need not want to know where it begins', async () => {
    const feed = await startFeed();
    const { onBegin: _, ...reader } = createReader();
    await feed.subscribe(owner, undefined, reader);
    store.deliver(store.commit(owner));
    expect(reader.seen).toEqual([1]);
  });
});

describe('a reader that leaves', () => {
  it('leaves the feed to the others of its owner', async () => {
    const feed = await startFeed();
    const other = createReader();
    const detach = await feed.subscribe(owner, undefined, createReader());
    await feed.subscribe(owner, undefined, other);
    detach();
    store.deliver(store.commit(owner));
    expect([other.seen, other.ends, feed.owners()]).toEqual([[1], [], 1]);
  });

  it('behind the end of its feed leaves the one that came after alone', async () => {
    const feed = await startFeed();
    const before = createReader();
    const detach = await feed.subscribe(owner, undefined, before);
    store.restore();
    const after = createReader();
    await feed.subscribe(owner, undefined, after);
    expect(before.ends).toEqual(['expired']);
    detach();
    store.deliver(store.commit(owner));
    expect([after.seen, feed.owners()]).toEqual([[1], 1]);
  });

  it('while heads are compared keeps nobody from theirs', async () => {
    const feed = await startFeed(20);
    const detach = await feed.subscribe(randomUUID(), undefined, createReader());
    const reader = createReader();
    await feed.subscribe(owner, undefined, reader);
    const [comparison, next] = [store.answerLate('heads'), store.answerLate('heads')];
    store.commit(owner);
    await comparison.asked;
    detach();
    comparison.come();
    await eventually(() => expect(reader.seen).toEqual([1]));
    next.come();
  });

  it('leaves nothing behind: a record of its owner that cannot be read concerns nobody here', async () => {
    const feed = await startFeed();
    const detach = await feed.subscribe(owner, undefined, createReader());
    detach();
    store.deliverText(owner, '{');
    expect([store.unreadable, store.asked.heads]).toEqual([[], 1]);
  });
});

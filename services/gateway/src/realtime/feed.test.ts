import type { TaskChanged } from '@taskmesh/events';
import type { TasksInternal } from '@taskmesh/internal-api';
import type { EventLog, LogRecord } from '@taskmesh/messaging';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createFeed, type Feed } from './feed.ts';
import type { FeedEnd } from './owner-feed.ts';

const log = createLog({ service: 'test', level: 'silent' });

/** A tasks service that only keeps changes, and an event log that delivers what the test tells it to. */
function createStore() {
  const changes = new Map<string, TaskChanged[]>();
  let epoch = 1;
  let isAway = false;
  let onRecord: (record: LogRecord) => void = () => {};
  const assertThere = () => {
    if (isAway) throw new Error('away');
  };

  const tasks: TasksInternal = {
    async heads(owners) {
      assertThere();
      return { epoch, heads: Object.fromEntries(owners.map((owner) => [owner, changes.get(owner)?.length ?? 0])) };
    },
    async changesAfter(owner, sequence, limit) {
      assertThere();
      return {
        epoch,
        expired: false,
        changes: (changes.get(owner) ?? []).slice(sequence, sequence + Math.min(limit, 7)),
      };
    },
    async openCursor(owner, cursor) {
      const [of, cursorEpoch, sequence] = cursor.split('|');
      return of === owner ? { epoch: Number(cursorEpoch), sequence: Number(sequence) } : null;
    },
  };
  const eventLog: EventLog = {
    ensureTopic: async () => {},
    publish: async () => {},
    read(_topic, listener) {
      onRecord = listener;
      return { ready: async () => {}, stop: async () => {} };
    },
    close: async () => {},
  };

  return {
    tasks,
    eventLog,
    /** Commits a change; `deliver` sends it over the event log. */
    commit(owner: string): TaskChanged {
      const list = changes.get(owner) ?? [];
      changes.set(owner, list);
      const change = makeChange(owner, list.length + 1, epoch);
      list.push(change);
      return change;
    },
    deliver: (change: TaskChanged) => onRecord({ key: change.ownerId, value: JSON.stringify(change) }),
    restore() {
      epoch++;
      changes.clear();
    },
    setAway(value: boolean) {
      isAway = value;
    },
    cursor: (owner: string, sequence: number) => `${owner}|${epoch}|${sequence}`,
  };
}

function makeChange(ownerId: string, sequence: number, epoch: number): TaskChanged {
  const at = '2026-01-01T00:00:00.000Z';
  const task = {
    id: randomUUID(),
    ownerId,
    title: `task ${sequence}`,
    description: null,
    completed: false,
    dueDate: null,
    category: null,
    priority: 'low' as const,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  return {
    id: String(sequence),
    epoch,
    ownerId,
    sequence,
    kind: 'INSERT',
    task,
    previous: null,
    occurredAt: at,
    cursor: '',
  };
}

function createReader() {
  const seen: number[] = [];
  const ends: FeedEnd[] = [];
  return {
    seen,
    ends,
    onChange: (change: TaskChanged) => void seen.push(change.sequence),
    onEnd: (reason: FeedEnd) => void ends.push(reason),
    drained: async () => {},
  };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('the feed of a gateway', () => {
  const store = createStore();
  let feed: Feed;
  const owner = randomUUID();

  beforeAll(async () => {
    feed = createFeed({ ...store, log, headsEveryMs: 30 });
    await feed.start();
  });
  afterAll(() => feed.stop());

  it('delivers live changes in order, whatever the event log drops, repeats and swaps', async () => {
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

  it('finds the last change although the event log never brought it', async () => {
    const reader = createReader();
    const lost = randomUUID();
    const detach = await feed.subscribe(lost, undefined, reader);
    store.commit(lost);
    await eventually(() => expect(reader.seen).toEqual([1]));
    detach();
  });

  it('replays behind a cursor and goes on live, each change once', async () => {
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

  it('waits for a tasks service that is away, and misses nothing', async () => {
    const patient = randomUUID();
    const reader = createReader();
    const detach = await feed.subscribe(patient, undefined, reader);
    store.setAway(true);
    store.commit(patient);
    store.deliver(store.commit(patient));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(reader.seen).toEqual([]);
    store.setAway(false);
    await eventually(() => expect(reader.seen).toEqual([1, 2]));
    detach();
  });

  it('refuses nonsense, foreign cursors and cursors of another epoch alike', async () => {
    const other = randomUUID();
    for (const cursor of ['nonsense', store.cursor(other, 0), `${owner}|7|1`, store.cursor(owner, 100_000)])
      await expect(feed.subscribe(owner, cursor, createReader())).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('ends running feeds when the store was restored, and serves the new one', async () => {
    const restored = randomUUID();
    const before = createReader();
    await feed.subscribe(restored, undefined, before);
    const old = store.commit(restored);
    store.restore();
    await eventually(() => expect(before.ends).toEqual(['expired']));
    const after = createReader();
    const detach = await feed.subscribe(restored, undefined, after);
    store.deliver(old);
    store.deliver(store.commit(restored));
    await eventually(() => expect(after.seen).toEqual([1]));
    detach();
  });

  it('forgets owners whom nobody reads', async () => {
    const before = feed.owners();
    const detach = await feed.subscribe(randomUUID(), undefined, createReader());
    expect(feed.owners()).toBe(before + 1);
    detach();
    expect(feed.owners()).toBe(before);
  });
});

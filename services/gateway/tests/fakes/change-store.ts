import { sealCursor, unsealCursor, type TaskChanged } from '@taskmesh/contracts';
import type { TasksInternal, UnreadableRecord } from '@taskmesh/internal-api';
import type { EventLog, FeedEnd, LogRecord } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { atEnd } from '@taskmesh/testing';
import { createSecretKey, randomUUID } from 'node:crypto';
import { createFeed, type Feed, type FeedOptions } from '../../src/feed/feed.ts';

/** A tasks service that only stores changes, and an event log that delivers when the test says so. */
export function createStore({ mostAtOnce = 7 } = {}) {
  const changes = new Map<string, TaskChanged[]>();
  let epoch = 1;
  let isUnavailable = false;
  const unreadable: UnreadableRecord[] = [];
  /** The sequence up to which changes are deleted, by owner. */
  const forgotten = new Map<string, number>();
  let onRecord: (record: LogRecord) => void = () => {};
  const late: { name: keyof TasksInternal; until: Promise<void>; hasRequest: () => void }[] = [];
  /** The number of calls, by function. */
  const asked = { heads: 0, changesAfter: 0, openCursor: 0, reportUnreadable: 0 };
  /** Responds at once, unless the test delays the response. */
  const respond = async <Answer>(name: keyof TasksInternal, given: Answer): Promise<Answer> => {
    asked[name]++;
    const index = late.findIndex((entry) => entry.name === name);
    const [entry] = index < 0 ? [] : late.splice(index, 1);
    entry?.hasRequest();
    await entry?.until;
    return given;
  };
  const cursor = (owner: string, sequence: number) => sealCursor(keyOf(epoch), owner, { epoch, sequence });
  const assertThere = () => {
    if (isUnavailable) throw new Error('away');
  };

  const tasks: TasksInternal = {
    async heads(owners, asCursors = false) {
      assertThere();
      const heads = owners.map((owner) => [owner, changes.get(owner)?.length ?? 0] as const);
      const cursors = heads.map(([owner, sequence]) => [owner, cursor(owner, sequence)]);
      return respond('heads', {
        epoch,
        heads: Object.fromEntries(heads),
        cursorKey: keyOf(epoch).export().toString('base64'),
        ...(asCursors && { cursors: Object.fromEntries(cursors) as Record<string, string> }),
      });
    },
    async changesAfter(owner, sequence, limit) {
      assertThere();
      return respond('changesAfter', {
        epoch,
        expired: sequence < (forgotten.get(owner) ?? 0),
        changes: (changes.get(owner) ?? []).slice(sequence, sequence + Math.min(limit, mostAtOnce)),
      });
    },
    async openCursor(owner, cursor) {
      return respond('openCursor', unsealCursor(keyOf(epoch), owner, cursor) ?? null);
    },
    async reportUnreadable(record) {
      assertThere();
      unreadable.push(record);
    },
  };
  const eventLog: EventLog = {
    ensureTopic: async () => {},
    publish: async () => {},
    read(_topic, listener) {
      onRecord = listener;
      return { ready: async () => {}, stop: async () => {} };
    },
    isUp: async () => true,
    close: async () => {},
  };

  return {
    tasks,
    eventLog,
    /** Commits a change; `deliver` sends it over the event log. */
    commit(owner: string, options?: ChangeOptions): TaskChanged {
      const list = changes.get(owner) ?? [];
      changes.set(owner, list);
      const change = makeChange(owner, list.length + 1, epoch, options);
      list.push(change);
      return change;
    },
    makeChange: (owner: string, sequence: number) => makeChange(owner, sequence, epoch),
    unreadable,
    asked,
    deliverText: (key: string, value: string) => onRecord({ key, value }),
    deliver: (change: TaskChanged) => onRecord({ key: change.ownerId, value: JSON.stringify(change) }),
    /** The next response of this kind is computed at the request, but arrives only when `come` is called. */
    respondLate(name: keyof TasksInternal): { asked: Promise<void>; come: () => void } {
      const { promise: until, resolve: come } = Promise.withResolvers<void>();
      const { promise: asked, resolve: hasRequest } = Promise.withResolvers<void>();
      late.push({ name, until, hasRequest });
      return { asked, come };
    },
    restore() {
      epoch++;
      changes.clear();
    },
    /** Fails over to a standby that lacks the owner's last changes. */
    lose: (owner: string, count: number) => void changes.get(owner)?.splice(-count),
    forgetUpTo: (owner: string, sequence: number) => void forgotten.set(owner, sequence),
    setUnavailable: (value: boolean) => void (isUnavailable = value),
    cursor,
  };
}

export type ChangeStore = ReturnType<typeof createStore>;

const keyOf = (epoch: number) => createSecretKey(Buffer.alloc(32, epoch));

type ChangeOptions = { title?: string; traceparent?: string };

function makeChange(ownerId: string, sequence: number, epoch: number, options: ChangeOptions = {}): TaskChanged {
  const { title = `task ${sequence}`, traceparent = null } = options;
  const at = new Date().toISOString();
  return {
    id: String(sequence),
    epoch,
    ownerId,
    sequence,
    kind: 'INSERT',
    task: {
      id: randomUUID(),
      ownerId,
      title,
      description: null,
      completed: false,
      dueDate: null,
      category: null,
      priority: 'low',
      createdAt: at,
      updatedAt: at,
      version: 1,
    },
    previous: null,
    occurredAt: at,
    cursor: sealCursor(keyOf(epoch), ownerId, { epoch, sequence }),
    traceparent,
  };
}

export function createReader() {
  const seen: number[] = [];
  const epochs: number[] = [];
  const ids: string[] = [];
  const ends: FeedEnd[] = [];
  /** The cursors passed to `onBegin`. */
  const begunAt: string[] = [];
  return {
    seen,
    /** The epoch of each change. */
    epochs,
    /** The task of each change. */
    ids,
    ends,
    begunAt,
    onBegin: (cursor: string) => void begunAt.push(cursor),
    onChange({ sequence, epoch, task }: TaskChanged) {
      ids.push(task.id);
      seen.push(sequence);
      epochs.push(epoch);
    },
    onEnd: (reason: FeedEnd) => void ends.push(reason),
    drained: async () => {},
  };
}

/** Starts a feed of the store, until the end of the test. It rarely compares heads by default. */
export async function startFeed(store: ChangeStore, options: Partial<FeedOptions> = {}): Promise<Feed> {
  const log = createLog({ service: 'test', level: 'silent' });
  const feed = createFeed({ ...store, log, headsEveryMs: 60_000, ...options });
  await feed.start();
  atEnd(() => feed.stop());
  return feed;
}

/** Begins to read from now on. The response with the position arrives only when `come` is called, which waits until then. */
export async function readLate(store: ChangeStore, feed: Feed, owner: string) {
  const { asked, come } = store.respondLate('heads');
  const reader = createReader();
  const subscribing = feed.subscribe(owner, undefined, reader);
  await asked;
  return { ...reader, come: () => (come(), subscribing) };
}

/** A reader of an owner's changes, from now on or after a cursor. Resolves once it is attached. */
export async function readFeed(feed: Feed, owner: string, after?: string) {
  const reader = createReader();
  return { ...reader, detach: await feed.subscribe(owner, after, reader) };
}

export const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

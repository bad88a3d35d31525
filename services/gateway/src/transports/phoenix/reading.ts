import { AppError } from '@taskmesh/errors';
import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import type { Feed } from '../../feed/feed.ts';
import type { TransportMetrics } from '../metrics.ts';
import type { FeedEnd } from '../../feed/owner-feed.ts';
import { concernsBinding, type Binding } from './bindings.ts';
import { viewOf } from './change-view.ts';
import type { JoinRequest } from './join.ts';
import { nameOf, type Wire } from './wire.ts';

export type ReadingEnd = FeedEnd | 'slow';

/** What a channel tells of one owner's changes, from the moment that it is theirs until it is another's. */
export interface Reading {
  readonly owner: string;
  /** The cursor could not be used: it begins now. */
  readonly hasLostItsPlace: boolean;
  /** Resolves when every change from there on will be told. @throws AppError as `Feed.subscribe` does, but for a cursor that cannot be used */
  begin(after: string | undefined): Promise<void>;
  /** The client is ready: it is told what has come, and everything from here on. Again, it does nothing. */
  open(): void;
  /** At once, also while it begins. */
  stop(): void;
}

export interface ReadingOptions extends Pick<JoinRequest, 'topic' | 'joinRef' | 'bindings' | 'tellsCursor'> {
  owner: string;
  feed: Feed;
  clock: Clock;
  wire: Wire;
  metrics: Pick<TransportMetrics, 'delivered'>;
  /** It cannot go on. */
  onEnd: (reason: ReadingEnd) => void;
}

export function createReading(options: ReadingOptions): Reading {
  const { owner, topic, joinRef, bindings, tellsCursor, feed, clock, wire, metrics, onEnd } = options;
  const begunAt = clock.now();
  const changeFrame = wire.framer({ joinRef: null, ref: null, topic, event: 'postgres_changes' });
  const cursorFrame = wire.framer({ joinRef, ref: null, topic, event: 'system' });
  /** Changes that came before the client is ready: no more than arrive in the moment in between, as a replay waits for it. */
  let held: TaskChanged[] | undefined = [];
  const opened = Promise.withResolvers<void>();
  let detach = () => {};
  let isStopped = false;
  let hasLostItsPlace = false;
  /** Where a reading that begins now does so, until that is told. */
  let firstCursor: string | undefined;
  let newestCursor = '';
  let isCursorDue = false;

  /** A client that does not learn where it stands would lose changes with its next join, or be told some again. */
  const tellCursor = (cursor: string) => {
    const told = { extension: 'resume', status: 'ok', message: 'cursor', cursor, channel: nameOf(topic) };
    if (!wire.write(cursorFrame(JSON.stringify(told)))) onEnd('slow');
  };

  /** One message for all changes that come at once. */
  const noteCursor = (cursor: string) => {
    newestCursor = cursor;
    if (!tellsCursor || isCursorDue) return;
    isCursorDue = true;
    setImmediate(() => {
      isCursorDue = false;
      if (!isStopped) tellCursor(newestCursor);
    });
  };

  const tell = (change: TaskChanged) => {
    const view = viewOf(change);
    const concerned = bindings.filter((binding) => concernsBinding(binding, change, view));
    for (const { ids, select } of bySelection(concerned))
      if (!wire.write(changeFrame(view.payload(ids, select)))) return onEnd('slow');
    if (concerned.length > 0) metrics.delivered('channel', change, begunAt);
    noteCursor(change.cursor);
  };

  const subscribe = async (after: string | undefined) => {
    const taken = await feed.subscribe(owner, after, {
      onBegin: (cursor) => void (firstCursor = cursor),
      onChange(change) {
        if (isStopped) return;
        if (held) held.push(change);
        else tell(change);
      },
      onEnd: (reason) => isStopped || onEnd(reason),
      async drained() {
        await opened.promise;
        await wire.drained();
      },
    });
    if (isStopped) taken();
    else detach = taken;
  };

  return {
    owner,
    get hasLostItsPlace() {
      return hasLostItsPlace;
    },
    async begin(after) {
      if (bindings.length === 0) return;
      try {
        await subscribe(after);
      } catch (error) {
        if (after === undefined || !(error instanceof AppError) || error.code !== 'CURSOR_EXPIRED') throw error;
        hasLostItsPlace = true;
        await subscribe(undefined);
      }
    },
    open() {
      const waiting = held ?? [];
      held = undefined;
      hasLostItsPlace = false;
      opened.resolve();
      if (tellsCursor && firstCursor !== undefined) tellCursor(firstCursor);
      firstCursor = undefined;
      for (const change of waiting) if (!isStopped) tell(change);
    },
    stop() {
      isStopped = true;
      opened.resolve();
      detach();
    },
  };
}

interface Selection {
  ids: number[];
  select: Binding['select'];
}

/** Bindings that tell the same columns share a message, which lists all their ids. */
function bySelection(bindings: Binding[]): Iterable<Selection> {
  const groups = new Map<string, Selection>();
  for (const { id, select } of bindings) {
    const key = select?.join() ?? '';
    const group = groups.get(key) ?? { ids: [], select };
    if (!group.ids.includes(id)) group.ids.push(id);
    groups.set(key, group);
  }
  return groups.values();
}

import { AppError, type TaskChanged } from '@taskmesh/contracts';
import type { Clock } from '@taskmesh/service';
import type { Feed } from '../../feed/feed.ts';
import type { TransportMetrics } from '../metrics.ts';
import type { FeedEnd } from '../../feed/owner-feed.ts';
import { concernsBinding, type Binding } from './bindings.ts';
import { viewOf } from './change-view.ts';
import type { JoinRequest } from './join.ts';
import { nameOf, type ChannelMessages } from './channel-messages.ts';

export type ChannelReaderEnd = FeedEnd | 'slow';

/** Delivers one owner's changes to a channel, for as long as the channel is that owner's. */
export interface ChannelReader {
  readonly owner: string;
  /** The cursor was unusable, so the reader begins now. */
  hasLostItsPlace(): boolean;
  /**
   * Resolves once no later change can be missed.
   * @throws AppError as `Feed.subscribe` does, except for an unusable cursor
   */
  begin(after: string | undefined): Promise<void>;
  /** The client is ready: sends the changes held so far, then every new one. Further calls do nothing. */
  open(): void;
  /** Tells the cursor behind the changes told so far, if it is still due. */
  settle(): void;
  /** Takes effect at once, even during `begin`. */
  stop(): void;
}

export interface ChannelReaderOptions extends Pick<JoinRequest, 'topic' | 'joinRef' | 'bindings' | 'tellsCursor'> {
  owner: string;
  feed: Feed;
  clock: Clock;
  messages: ChannelMessages;
  metrics: Pick<TransportMetrics, 'delivered'>;
  onEnd: (reason: ChannelReaderEnd) => void;
}

export function createChannelReader(options: ChannelReaderOptions): ChannelReader {
  const { owner, topic, joinRef, bindings, tellsCursor, feed, clock, messages, metrics, onEnd } = options;
  const begunAt = clock.now();
  const ofChanges = messages.envelope({ joinRef: null, ref: null, topic, event: 'postgres_changes' });
  const ofCursors = messages.envelope({ joinRef, ref: null, topic, event: 'system' });
  /** Changes from before the client was ready, which takes seconds at most. They stay few, as a replay waits for `opened`. */
  let held: TaskChanged[] | undefined = [];
  const opened = Promise.withResolvers<void>();
  let detach = () => {};
  let isStopped = false;
  let hasLostItsPlace = false;
  /** The cursor at which this reader begins, until it has been sent. */
  let firstCursor: string | undefined;
  let newestCursor = '';
  let isCursorDue = false;

  /** A client without its current cursor would lose or repeat changes at its next join. */
  const tellCursor = (cursor: string) => {
    const told = { extension: 'resume', status: 'ok', message: 'cursor', cursor, channel: nameOf(topic) };
    if (!messages.write(ofCursors, JSON.stringify(told))) onEnd('slow');
  };

  /** Changes that arrive together share one cursor message. */
  const noteCursor = (cursor: string) => {
    newestCursor = cursor;
    if (!tellsCursor || isCursorDue) return;
    isCursorDue = true;
    setImmediate(settle);
  };

  const settle = () => {
    if (!isCursorDue) return;
    isCursorDue = false;
    if (!isStopped) tellCursor(newestCursor);
  };

  const tell = (change: TaskChanged) => {
    const view = viewOf(change);
    const concerned = bindings.filter((binding) => concernsBinding(binding, change, view));
    for (const { ids, select } of bySelection(concerned))
      if (!messages.write(ofChanges, view.payload(ids, select))) return onEnd('slow');
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
        await messages.drained();
      },
    });
    if (isStopped) taken();
    else detach = taken;
  };

  return {
    owner,
    // No accessors: V8 keeps an object with its own ones as a dictionary.
    hasLostItsPlace: () => hasLostItsPlace,
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
    settle,
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

/** Bindings that select the same columns share a message, which lists all their ids. */
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

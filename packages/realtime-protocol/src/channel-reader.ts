import type { ViewOf } from './change-view.ts';
import { concernsBinding, type Binding, type JoinRequest } from './join.ts';
import { nameOf, type ChannelMessages } from './messages.ts';
import type { FeedEnd, Metrics, Subscribe } from './options.ts';
import type { Envelope } from './socket.ts';
import type { Change } from './table.ts';

/** Limit for the changes that are buffered until a client is ready, in bytes of their JSON. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export type ChannelReaderEnd = FeedEnd | 'slow';

export type ChannelReader = ReturnType<typeof createChannelReader>;

export interface ChannelReaderOptions extends Pick<JoinRequest, 'topic' | 'joinRef' | 'wantsCursor'> {
  owner: string;
  bindings: Binding[];
  subscribe: Subscribe;
  now: () => number;
  messages: ChannelMessages;
  viewOf: ViewOf;
  metrics: Pick<Metrics, 'delivered'>;
  onEnd: (reason: ChannelReaderEnd) => void;
}

/** Delivers one owner's changes to a channel for as long as the channel belongs to that owner. */
export function createChannelReader(options: ChannelReaderOptions) {
  const { owner, topic, joinRef, bindings, wantsCursor, messages, viewOf, metrics, onEnd } = options;
  const begunAt = options.now();
  const ofChanges = messages.envelope({ joinRef: null, ref: null, topic, event: 'postgres_changes' });
  const ofCursors = messages.envelope({ joinRef, ref: null, topic, event: 'system' });
  /** Changes buffered until the client is ready, for seconds at most. A replay waits for `opened`. */
  let buffered: Change[] | undefined = [];
  let bufferedBytes = 0;
  const opened = Promise.withResolvers<void>();
  /** Ends reading, even while it is starting. */
  let detach = () => {};
  let isStopped = false;
  let isPositionLost = false;
  /** The cursor at which this reader starts, until the cursor has been sent. */
  let firstCursor: string | undefined;
  let newestCursor = '';
  let isCursorDue = false;

  /** Without its current cursor, a client would miss or repeat changes at its next join. */
  const sendCursor = (cursor: string) => {
    const sent = { extension: 'resume', status: 'ok', message: 'cursor', cursor, channel: nameOf(topic) };
    if (!messages.write(ofCursors, JSON.stringify(sent))) onEnd('slow');
  };

  /** Changes that arrive together share one cursor message. */
  const scheduleCursor = (cursor: string) => {
    newestCursor = cursor;
    if (!wantsCursor || isCursorDue) return;
    isCursorDue = true;
    setImmediate(flushCursor);
  };

  /** Sends the cursor of the last change sent, if this is still pending. */
  const flushCursor = () => {
    if (!isCursorDue) return;
    isCursorDue = false;
    if (!isStopped) sendCursor(newestCursor);
  };

  /** The ids differ between channels that share the bytes of `data`. */
  const withIds = (ids: number[]): Envelope => ({
    before: `${ofChanges.before}{"ids":[${ids.join()}],"data":`,
    after: `}${ofChanges.after}`,
  });

  const deliver = (change: Change) => {
    const view = viewOf(change);
    const matching = bindings.filter((binding) => concernsBinding(binding, change, view));
    for (const { ids, select } of bySelection(matching))
      if (!messages.write(withIds(ids), view.dataOf(select))) return onEnd('slow');
    if (matching.length > 0) metrics.delivered(change, begunAt);
    scheduleCursor(change.cursor);
  };

  /** Resolves with false if the cursor is not usable. */
  const subscribe = async (after: string | undefined): Promise<boolean> => {
    const leaving = new AbortController();
    detach = () => leaving.abort();
    const started = await options.subscribe(owner, after, {
      signal: leaving.signal,
      onBegin: (cursor) => void (firstCursor = cursor),
      onChange(change) {
        if (isStopped) return;
        if (!buffered) return deliver(change);
        buffered.push(change);
        bufferedBytes += viewOf(change).dataOf(undefined).length; // made once for all channels
        if (bufferedBytes > MAX_BUFFERED_BYTES) onEnd('slow');
      },
      onEnd: (reason) => isStopped || onEnd(reason),
      async drained() {
        await opened.promise;
        await messages.drained();
      },
    });
    if (started === 'cursor expired') return false;
    if (isStopped) started();
    else detach = started;
    return true;
  };

  return {
    owner,
    // Not a getter: V8 stores objects with own accessors as dictionaries, which are slower.
    /** Whether the cursor was not usable, so that the reader started from now. */
    hasLostPosition: () => isPositionLost,
    /**
     * Starts reading after the cursor, or from now if the cursor is not usable. Resolves once no later change can be missed.
     * @throws errors of `subscribe`
     */
    async begin(after: string | undefined) {
      if (bindings.length === 0) return;
      isPositionLost = !(await subscribe(after));
      if (isPositionLost && !isStopped) await subscribe(undefined);
    },
    /** Called when the client is ready: sends the buffered changes, then every new one. Further calls have no effect. */
    open() {
      const waiting = buffered ?? [];
      buffered = undefined;
      isPositionLost = false;
      opened.resolve();
      if (wantsCursor && firstCursor !== undefined) sendCursor(firstCursor);
      firstCursor = undefined;
      for (const change of waiting) if (!isStopped) deliver(change);
    },
    flushCursor,
    /** Takes effect at once, even during `begin`. */
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

/** Groups bindings that select the same columns: they share a message, which lists all their ids. */
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

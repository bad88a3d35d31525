import type { ViewOf } from './change-view.ts';
import { concernsBinding, type Binding, type JoinRequest } from './join.ts';
import { nameOf, type ChannelMessages } from './messages.ts';
import type { FeedEnd, Metrics, Subscribe } from './options.ts';
import type { Change } from './table.ts';

export type ChannelReaderEnd = FeedEnd | 'slow';

/** Delivers one owner's changes to a channel, for as long as the channel is that owner's. */
export interface ChannelReader {
  readonly owner: string;
  /** The cursor was unusable, so the reader begins now. */
  hasLostItsPlace(): boolean;
  /**
   * Resolves once no later change can be missed. Begins now if the cursor is not usable.
   * @throws what `subscribe` throws
   */
  begin(after: string | undefined): Promise<void>;
  /** The client is ready: sends the changes held so far, then every new one. Further calls do nothing. */
  open(): void;
  /** Sends the cursor behind the changes sent so far, if it is still due. */
  settle(): void;
  /** Takes effect at once, even during `begin`. */
  stop(): void;
}

export interface ChannelReaderOptions extends Pick<JoinRequest, 'topic' | 'joinRef' | 'tellsCursor'> {
  owner: string;
  bindings: Binding[];
  subscribe: Subscribe;
  now: () => number;
  messages: ChannelMessages;
  viewOf: ViewOf;
  metrics: Pick<Metrics, 'delivered'>;
  onEnd: (reason: ChannelReaderEnd) => void;
}

export function createChannelReader(options: ChannelReaderOptions): ChannelReader {
  const { owner, topic, joinRef, bindings, tellsCursor, messages, viewOf, metrics, onEnd } = options;
  const begunAt = options.now();
  const ofChanges = messages.envelope({ joinRef: null, ref: null, topic, event: 'postgres_changes' });
  const ofCursors = messages.envelope({ joinRef, ref: null, topic, event: 'system' });
  /** Changes from before the client was ready, which takes seconds at most. They stay few, as a replay waits for `opened`. */
  let held: Change[] | undefined = [];
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
    const sent = { extension: 'resume', status: 'ok', message: 'cursor', cursor, channel: nameOf(topic) };
    if (!messages.write(ofCursors, JSON.stringify(sent))) onEnd('slow');
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

  const tell = (change: Change) => {
    const view = viewOf(change);
    const concerned = bindings.filter((binding) => concernsBinding(binding, change, view));
    for (const { ids, select } of bySelection(concerned))
      if (!messages.write(ofChanges, view.payload(ids, select))) return onEnd('slow');
    if (concerned.length > 0) metrics.delivered(change, begunAt);
    noteCursor(change.cursor);
  };

  /** False when the cursor is not usable. */
  const subscribe = async (after: string | undefined): Promise<boolean> => {
    const taken = await options.subscribe(owner, after, {
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
    if (taken === 'cursor expired') return false;
    if (isStopped) taken();
    else detach = taken;
    return true;
  };

  return {
    owner,
    // No accessors: V8 keeps an object with its own ones as a dictionary.
    hasLostItsPlace: () => hasLostItsPlace,
    async begin(after) {
      if (bindings.length === 0) return;
      hasLostItsPlace = !(await subscribe(after));
      if (hasLostItsPlace) await subscribe(undefined);
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

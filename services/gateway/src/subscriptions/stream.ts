import { AppError, toGraphQLError, unavailable, type TaskChanged } from '@taskmesh/contracts';
import type { FeedEnd } from '@taskmesh/event-log';
import { activeSpan, runOutsideSpans, type Span, runInSpan } from '@taskmesh/service';
import type { GraphQLError } from 'graphql';
import type { Feed } from '../feed/feed.ts';
import { asGraphQL } from '../supergraph/client-errors.ts';
import type { AccountShare } from './account-shares.ts';
import { concerns, type TaskFilter } from './change-event.ts';
import type { Render } from './event-renderer.ts';

/** How many waiting events are rendered at once. The others wait as changes, which all streams of an account share. */
const MAX_CONCURRENT_EVENTS = 2;
/** Limit for the JSON of one event: ten times the largest change. It may be in memory once per reader at the same time. */
const MAX_EVENT_CHARACTERS = 512 * 1024;

/** Why a stream ended without its client ending it. */
export type StreamEnd =
  /** Meant for the client: the stream ends regularly, with this error. */
  | { kind: 'failed'; error: GraphQLError }
  /**
   * The transport ends in a way that makes the client reconnect and resume: the client was too slow, the gateway is
   * stopping, or a service that is needed to complete an event stays unavailable.
   */
  | { kind: 'slow' | 'stopped' | 'unavailable' };

/** Where a stream's events go. No function throws. */
export interface StreamSink {
  /**
   * Reports the stream's position when no event does: where it begins without a cursor, or after a replay that ended with
   * changes that its filter excludes.
   */
  position?(cursor: string): void;
  /** `json` is the event's whole result, the same string for equal streams. Returns false if the client is too slow. */
  next(json: string, change: TaskChanged): boolean;
  end(end: StreamEnd): void;
  /** Resolves when most of what was written has been sent, so that a long replay does not outrun the client. */
  drained(): Promise<void>;
}

/** How a stream treats changes. */
export interface View {
  filter: TaskFilter | undefined;
  render: Render;
}

interface Reading {
  owner: string;
  after: string | undefined;
  signal: AbortSignal | undefined;
  view: () => View;
}

interface WaitingEvent {
  change: TaskChanged;
  /** The span of its delivery, if that is recorded. */
  span: Span | undefined;
  json?: string | Promise<string>;
}

/** One event is often sent after the work for another one. */
const asPartOf = <Result>({ span }: WaitingEvent, work: () => Result): Result =>
  span ? runInSpan(span, work) : runOutsideSpans(work);

/** Passes changes to the sink in order, even when some have to wait for other services. */
export function openStream(
  sink: StreamSink,
  share: Pick<AccountShare, 'keep' | 'drop'>,
  delivered: (change: TaskChanged) => void,
  failed: (error: unknown) => void,
) {
  let isOver = false;
  let detach = () => {};
  let onOver = () => {};
  const waiting: WaitingEvent[] = [];
  let sending = Promise.resolve();
  /** The cursor of the last change, if the filter excluded it. */
  let excluded: string | undefined;

  const over = (end?: StreamEnd) => {
    if (isOver) return;
    isOver = true;
    for (const { change } of waiting.splice(0)) share.drop(change, endSlow);
    detach();
    onOver();
    if (end?.kind === 'failed') failed(end.error);
    if (end?.kind === 'unavailable') failed(toGraphQLError(unavailable()));
    if (end) sink.end(end);
  };
  const endSlow = () => over({ kind: 'slow' });
  const send = (json: string, change: TaskChanged) => {
    if (isOver) return;
    if (json.length > MAX_EVENT_CHARACTERS) return over({ kind: 'failed', error: tooLarge() });
    if (sink.next(json, change)) delivered(change);
    else endSlow();
  };
  /** Returns false if too much waits. */
  const wait = (event: WaitingEvent) => {
    waiting.push(event);
    return share.keep(event.change, endSlow);
  };
  const isWaiting = () => !isOver;
  const handleChange = (change: TaskChanged, view: () => View) => {
    const { filter, render } = view();
    excluded = filter && !concerns(change, filter) ? change.cursor : undefined;
    if (isOver || excluded !== undefined) return;
    if (waiting.length === 0) {
      const json = render(change, isWaiting);
      if (typeof json === 'string') return send(json, change);
      wait({ change, json, span: activeSpan() }); // one event may always wait
      sending = sendWaiting(view);
    } else if (wait({ change, span: activeSpan() })) renderNext(view);
    else endSlow();
  };
  /** Uses the current view: an event may have waited until a new graph replaced the view. */
  const renderNext = (view: () => View) => {
    for (const event of waiting.slice(0, MAX_CONCURRENT_EVENTS))
      event.json ??= asPartOf(event, () => view().render(event.change, isWaiting));
  };
  const sendWaiting = async (view: () => View) => {
    try {
      for (let event = waiting[0]; event?.json !== undefined && !isOver; event = waiting[0]) {
        const { change, json } = event;
        const text = await json;
        asPartOf(event, () => send(text, change));
        waiting.shift();
        share.drop(change, endSlow);
        renderNext(view);
      }
    } catch {
      over({ kind: 'unavailable' });
    }
  };
  /** Events that still wait for other services come first, and each has its own cursor. */
  const position = () => (waiting.length === 0 ? excluded : undefined);
  /** Events accepted before the end are still sent. */
  const endAfterAll = (end: StreamEnd) => {
    detach();
    void sending.then(() => over(end));
  };

  return {
    onOver(listener: () => void) {
      onOver = listener;
    },
    async read(feed: Feed, { owner, after, signal, view }: Reading) {
      try {
        detach = await feed.subscribe(owner, after, {
          signal,
          onBegin: (cursor) => isOver || sink.position?.(cursor),
          onChange: (change) => handleChange(change, view),
          onEnd: (reason: FeedEnd) =>
            endAfterAll(reason === 'expired' ? { kind: 'failed', error: expired() } : { kind: reason }),
          async drained() {
            await sending;
            await sink.drained();
          },
          onCaughtUp() {
            const cursor = position();
            if (!isOver && cursor !== undefined) sink.position?.(cursor);
          },
        });
      } catch (error) {
        over();
        const failure = asGraphQL(error);
        if (!signal?.aborted) failed(failure);
        throw failure;
      }
      if (isOver) detach();
    },
    fail: (error: GraphQLError) => endAfterAll({ kind: 'failed', error }),
    position,
    stop: () => over(),
    isOver: () => isOver,
  };
}

function tooLarge(): GraphQLError {
  const message = `An event of this subscription has more than ${MAX_EVENT_CHARACTERS} characters: select less.`;
  return toGraphQLError(new AppError('PAYLOAD_TOO_LARGE', message));
}

function expired(): GraphQLError {
  return toGraphQLError(new AppError('CURSOR_EXPIRED', 'The feed begins again; read the list again.'));
}

import {
  AppError,
  rateLimited,
  toGraphQLError,
  unauthenticated,
  unavailable,
  type TaskChanged,
} from '@taskmesh/contracts';
import { activeSpan, type Clock, networkOf, outside, type Span, within } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InvalidOperation, type PreparedOperation, type RequestCall } from '../supergraph/operation.ts';
import type { ClientOperation, Graph, LiveGraph } from '../supergraph/live-graph.ts';
import type { AccountShares } from './account-shares.ts';
import { readArguments } from './arguments.ts';
import { concerns, type TaskFilter } from './change-event.ts';
import type { Feed } from '../feed/feed.ts';
import type { FeedEnd } from '../feed/owner-feed.ts';
import type { Memory } from '../http/memory.ts';
import type { Turns } from '../supergraph/turns.ts';
import type { FailureReason, Protocol, SubscriptionMetrics } from '../realtime-metrics.ts';
import {
  createEventRenderer,
  type Render,
  type RunInTurn,
  type EventRenderer,
  type EventRendererDeps,
} from './event-renderer.ts';

/** How many events may wait for other services before the reader counts as too slow. */
const WAITING_LIMIT = 1_000;
/** How many of them are put together at once. The others wait as changes, which all streams of an account share. */
const AT_ONCE = 2;
/** Of the JSON of one event: ten times the largest change. It is there for each reader at once. */
const MAX_EVENT_CHARACTERS = 512 * 1024;

const RENDERER = 'event renderer';

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
   * How far the stream has come when no event says so: where it begins without a cursor, or a replay that ended with
   * changes that its filter excludes.
   */
  position?(cursor: string): void;
  /** `json` is the event's whole result, the same string for equal streams. Returns false if the client is too slow. */
  next(json: string, change: TaskChanged): boolean;
  end(end: StreamEnd): void;
  /** Resolves when most of what was written has been sent, so that a long replay does not outrun the client. */
  drained(): Promise<void>;
}

export interface Subscriptions {
  /**
   * Runs `Subscription.taskChanges` for the call's user until the stream ends or is stopped.
   * @throws GraphQLError when it cannot begin
   */
  subscribe(request: StreamRequest, sink: StreamSink): Promise<Subscription>;
}

export interface Subscription {
  /** Whether the client knows a cursor to go on from: its events have them, and it gave one or has received an event. */
  canResume(): boolean;
  /** The cursor behind the changes that the filter excluded since the last event, if any. */
  position(): string | undefined;
  stop(): void;
}

export interface StreamRequest {
  protocol: Protocol;
  operation: ClientOperation;
  variables: Record<string, unknown>;
  call: RequestCall;
  /** A cursor that the transport brought; overrides the argument `after`. */
  after?: string;
}

interface Deps extends EventRendererDeps {
  feed: Feed;
  metrics: SubscriptionMetrics;
  clock: Clock;
  graph: LiveGraph;
  shares: AccountShares;
  memory: Pick<Memory, 'isShort'>;
  turns: Turns;
}

/** How a stream treats changes. */
interface View {
  filter: TaskFilter | undefined;
  render: Render;
}

const keyOf = ({ source, operationName }: PreparedOperation) => JSON.stringify([source, operationName]);

/** A running stream; a new graph replaces its view, or ends it. */
interface LiveStream {
  readonly variables: Record<string, unknown>;
  readonly call: RequestCall;
  readonly inTurn: RunInTurn;
  rendering: EventRenderer;
  view: View;
  fail(error: GraphQLError): void;
}

export function createSubscriptions(deps: Deps): Subscriptions {
  const { feed, graph, clock, metrics, shares, memory, turns } = deps;
  const streams = new Set<LiveStream>();

  // Plan all documents on the new graph while the old one goes on serving events; then switch all streams over between
  // two events. Positions in the feed are not affected.
  graph.beforeSwitch(async (next) => {
    const planned = new Map<string, EventRenderer | GraphQLError>();
    const planFor = ({ rendering: { operation } }: LiveStream) => {
      const key = keyOf(operation);
      const outcome = planned.get(key) ?? planOn(next, operation, deps);
      planned.set(key, outcome);
      return outcome;
    };
    for (const stream of streams) {
      if (planned.has(keyOf(stream.rendering.operation))) continue;
      planFor(stream);
      await nextTurn();
    }
    return () => {
      for (const stream of [...streams]) moveTo(planFor(stream), stream);
    };
  });

  const planInTurn = async ({ operation: { source, operationName, partOf }, call }: StreamRequest) => {
    if (partOf.has(RENDERER)) return;
    const { current } = graph;
    const planning = turns.run(networkOf(call.ip), () => planOn(current, { source, operationName }, deps));
    await planning.catch((error: unknown) => {
      throw error instanceof AppError ? toGraphQLError(error) : error;
    });
  };

  return {
    async subscribe(request, sink) {
      const { protocol, variables, call } = request;
      const { identity } = call;
      if (identity.role !== 'user') throw toGraphQLError(unauthenticated());
      if (memory.isShort()) throw toGraphQLError(unavailable());
      await planInTurn(request);
      const operation = onCurrent(graph.current, request.operation);
      const args = readArguments(operation, variables);
      const rendering = renderingOf(graph.of(operation.schema), operation, deps);
      const share = shares.take(identity.userId, {
        key: rendering.keyOf(args.variables),
        cost: operation.cost(args.variables),
        source: operation.source,
        variableCharacters: JSON.stringify(variables).length,
      });
      if (!share) {
        metrics.failed(protocol, 'subscription_limit');
        throw toGraphQLError(
          rateLimited(1, 'The subscriptions of this account would cost or keep too much together (docs/limits.md).'),
        );
      }
      const since = clock.now();
      const after = request.after ?? args.after;
      const getsCursors = request.after !== undefined || args.canResume;
      let knowsCursor = after !== undefined;
      const stream = openStream(
        sink,
        (change) => {
          knowsCursor = true;
          metrics.delivered(protocol, change, since);
        },
        (error) => metrics.failed(protocol, failureOf(error)),
      );
      const live: LiveStream = {
        variables,
        call,
        rendering,
        inTurn: share.inTurn,
        view: { filter: args.filter, render: rendering.withVariables(args.variables, call, share.inTurn) },
        fail: stream.fail,
      };
      streams.add(live);
      let unsubscribed = () => {};
      stream.onOver(() => {
        streams.delete(live);
        share.release();
        unsubscribed();
      });
      await stream.read(feed, { owner: identity.userId, after, view: () => live.view });
      if (!stream.isOver()) unsubscribed = metrics.subscribed(protocol);
      return { canResume: () => getsCursors && knowsCursor, position: stream.position, stop: stream.stop };
    },
  };
}

/** The operation may have been admitted just before the graph changed. @throws GraphQLError */
function onCurrent({ supergraph, admit }: Graph, operation: ClientOperation): ClientOperation {
  if (operation.schema === supergraph.schema) return operation;
  try {
    return admit(operation.source, operation.operationName);
  } catch (error) {
    throw error instanceof InvalidOperation ? changedGraph(error.message, error.code) : error;
  }
}

function renderingOf(graph: Graph, operation: PreparedOperation, deps: EventRendererDeps): EventRenderer {
  return operation.partOf(RENDERER, (resized) => createEventRenderer(graph, operation, { ...deps, resized }));
}

/** The document on another graph, or why it cannot run there, as if its client had just sent it. */
function planOn(
  next: Graph,
  { source, operationName }: Pick<PreparedOperation, 'source' | 'operationName'>,
  deps: EventRendererDeps,
) {
  try {
    return renderingOf(next, next.admit(source, operationName), deps);
  } catch (error) {
    if (error instanceof InvalidOperation) return changedGraph(error.message, error.code);
    return changedGraph('the subscription cannot be planned any more.', 'GRAPHQL_VALIDATION_FAILED');
  }
}

function moveTo(outcome: EventRenderer | GraphQLError, stream: LiveStream): void {
  if (outcome instanceof GraphQLError) return stream.fail(outcome);
  try {
    const { variables, call } = stream;
    const args = readArguments(outcome.operation, variables);
    stream.rendering = outcome;
    stream.view = { filter: args.filter, render: outcome.withVariables(args.variables, call, stream.inTurn) };
  } catch (error) {
    stream.fail(changedGraph(error instanceof GraphQLError ? error.message : 'the subscription cannot run any more.'));
  }
}

function changedGraph(why: string, code = 'BAD_USER_INPUT'): GraphQLError {
  return new GraphQLError(`The graph has changed: ${why}`, { extensions: { code } });
}

interface Reading {
  owner: string;
  after: string | undefined;
  view: () => View;
}

interface WaitingEvent {
  change: TaskChanged;
  /** Of its delivery, if that is recorded. */
  span: Span | undefined;
  json?: string | Promise<string>;
}

/** One event is often sent after the work for another one. */
const asPartOf = <Result>({ span }: WaitingEvent, work: () => Result): Result =>
  span ? within(span, work) : outside(work);

/** Hands changes to the sink in order, even when some have to wait for other services. */
function openStream(sink: StreamSink, delivered: (change: TaskChanged) => void, failed: (error: unknown) => void) {
  let isOver = false;
  let detach = () => {};
  let onOver = () => {};
  const waiting: WaitingEvent[] = [];
  let sending = Promise.resolve();
  /** The last change, if the filter excluded it. */
  let excluded: TaskChanged | undefined;

  const over = (end?: StreamEnd) => {
    if (isOver) return;
    isOver = true;
    waiting.length = 0;
    detach();
    onOver();
    if (end?.kind === 'failed') failed(end.error);
    if (end?.kind === 'unavailable') failed(toGraphQLError(unavailable()));
    if (end) sink.end(end);
  };
  const send = (json: string, change: TaskChanged) => {
    if (isOver) return;
    if (json.length > MAX_EVENT_CHARACTERS) return over({ kind: 'failed', error: tooLarge() });
    if (sink.next(json, change)) delivered(change);
    else over({ kind: 'slow' });
  };
  const isWaiting = () => !isOver;
  const take = (change: TaskChanged, view: () => View) => {
    const { filter, render } = view();
    excluded = filter && !concerns(change, filter) ? change : undefined;
    if (isOver || excluded) return;
    if (waiting.length === 0) {
      const json = render(change, isWaiting);
      if (typeof json === 'string') return send(json, change);
      waiting.push({ change, json, span: activeSpan() });
      sending = sendWaiting(view);
    } else if (waiting.length === WAITING_LIMIT) over({ kind: 'slow' });
    else {
      waiting.push({ change, span: activeSpan() });
      renderNext(view);
    }
  };
  /** By the view of now: what an event waits for may have come with a new graph. */
  const renderNext = (view: () => View) => {
    for (const event of waiting.slice(0, AT_ONCE))
      event.json ??= asPartOf(event, () => view().render(event.change, isWaiting));
  };
  const sendWaiting = async (view: () => View) => {
    try {
      for (let event = waiting[0]; event?.json !== undefined && !isOver; event = waiting[0]) {
        const { change, json } = event;
        const text = await json;
        asPartOf(event, () => send(text, change));
        waiting.shift();
        renderNext(view);
      }
    } catch {
      over({ kind: 'unavailable' });
    }
  };
  /** Events that still wait for other services come first, and each has its own cursor. */
  const position = () => (waiting.length === 0 ? excluded?.cursor : undefined);
  /** Events that were taken before the end still go out. */
  const endAfterAll = (end: StreamEnd) => {
    detach();
    void sending.then(() => over(end));
  };

  return {
    onOver(listener: () => void) {
      onOver = listener;
    },
    async read(feed: Feed, { owner, after, view }: Reading) {
      try {
        detach = await feed.subscribe(owner, after, {
          onBegin: (cursor) => isOver || sink.position?.(cursor),
          onChange: (change) => take(change, view),
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
        const failure = error instanceof AppError ? toGraphQLError(error) : error;
        failed(failure);
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

function failureOf(error: unknown): FailureReason {
  const code = error instanceof GraphQLError ? error.extensions['code'] : undefined;
  if (code === 'CURSOR_EXPIRED') return 'cursor_expired';
  if (code === 'PAYLOAD_TOO_LARGE') return 'subscription_limit';
  return code === 'SERVICE_UNAVAILABLE' ? 'unavailable' : 'graph_changed';
}

function tooLarge(): GraphQLError {
  const message = `An event of this subscription has more than ${MAX_EVENT_CHARACTERS} characters: select less.`;
  return toGraphQLError(new AppError('PAYLOAD_TOO_LARGE', message));
}

function expired(): GraphQLError {
  return toGraphQLError(new AppError('CURSOR_EXPIRED', 'The feed begins again; read the list again.'));
}

import { rateLimited, toGraphQLError, unauthenticated, unavailable } from '@taskmesh/contracts';
import { type Clock, networkOf } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asGraphQL } from '../supergraph/client-errors.ts';
import { InvalidOperation, type PreparedOperation, type RequestCall } from '../supergraph/operation.ts';
import type { Graph, LiveGraph } from '../supergraph/live-graph.ts';
import type { AccountShares } from './account-shares.ts';
import { readArguments } from './arguments.ts';
import type { Feed } from '../feed/feed.ts';
import type { Memory } from '../http/memory.ts';
import type { FailureReason, Protocol, SubscriptionMetrics } from '../realtime-metrics.ts';
import { createEventRenderer, type RunLimited, type EventRenderer, type EventRendererDeps } from './event-renderer.ts';
import { openStream, type StreamSink, type View } from './stream.ts';

const RENDERER = 'event renderer';

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export interface Subscription {
  /** Whether the client can resume from a cursor: its events have cursors, and it sent one or has received an event. */
  canResume(): boolean;
  /** The cursor after the changes that the filter has excluded since the last event, if any. */
  position(): string | undefined;
  stop(): void;
}

export interface StreamRequest {
  protocol: Protocol;
  operation: PreparedOperation;
  variables: Record<string, unknown>;
  call: RequestCall;
  /** A cursor from the transport; overrides the argument `after`. */
  after?: string;
}

interface Deps extends EventRendererDeps {
  feed: Feed;
  metrics: SubscriptionMetrics;
  clock: Clock;
  graph: LiveGraph;
  shares: AccountShares;
  memory: Pick<Memory, 'isShort'>;
}

const keyOf = ({ source, operationName }: PreparedOperation) => JSON.stringify([source, operationName]);

/** A running stream; a new graph replaces its view, or ends it. */
interface LiveStream {
  readonly variables: Record<string, unknown>;
  readonly call: RequestCall;
  readonly runLimited: RunLimited;
  rendering: EventRenderer;
  view: View;
  fail(error: GraphQLError): void;
}

export function createSubscriptions(deps: Deps) {
  const { feed, graph, clock, metrics, shares, memory, blockingWork } = deps;
  const streams = new Set<LiveStream>();

  // Plan all documents on the new graph while the old one still serves events; then switch all streams over between
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

  const planQueued = async ({ operation: { source, operationName, partOf }, call }: StreamRequest) => {
    if (partOf.has(RENDERER)) return;
    const { current } = graph;
    const planning = blockingWork.run(networkOf(call.ip), () => planOn(current, { source, operationName }, deps));
    await planning.catch((error: unknown) => {
      throw asGraphQL(error);
    });
  };

  return {
    /**
     * Runs `Subscription.taskChanges` for the call's user until the stream ends or is stopped.
     * @throws GraphQLError when it cannot begin
     */
    async subscribe(request: StreamRequest, sink: StreamSink) {
      const { protocol, variables, call } = request;
      const { identity } = call;
      if (identity.role !== 'user') throw toGraphQLError(unauthenticated());
      if (memory.isShort()) throw toGraphQLError(unavailable());
      await planQueued(request);
      const operation = onCurrent(graph.current, request.operation);
      const args = readArguments(operation, variables);
      const rendering = renderingOf(graph.of(operation.schema), operation, deps);
      const share = shares.reserve(identity.userId, {
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
        runLimited: share.runLimited,
        view: { filter: args.filter, render: rendering.withVariables(args.variables, call, share.runLimited) },
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
function onCurrent({ supergraph, admit }: Graph, operation: PreparedOperation): PreparedOperation {
  if (operation.schema === supergraph.schema) return operation;
  try {
    return admit(operation.source, operation.operationName);
  } catch (error) {
    throw error instanceof InvalidOperation ? changedGraph(error.message, error.code) : error;
  }
}

function renderingOf(graph: Graph, operation: PreparedOperation, deps: EventRendererDeps): EventRenderer {
  return operation.partOf(RENDERER, (onResize) => createEventRenderer(graph, operation, { ...deps, onResize }));
}

/** Plans the document on another graph, as if its client had just sent it there. Returns the error if it cannot run there. */
function planOn(
  next: Graph,
  { source, operationName }: Pick<PreparedOperation, 'source' | 'operationName'>,
  deps: EventRendererDeps,
) {
  try {
    return renderingOf(next, next.admit(source, operationName), deps);
  } catch (error) {
    if (error instanceof InvalidOperation) return changedGraph(error.message, error.code);
    return changedGraph('the subscription can no longer be planned.', 'GRAPHQL_VALIDATION_FAILED');
  }
}

function moveTo(outcome: EventRenderer | GraphQLError, stream: LiveStream): void {
  if (outcome instanceof GraphQLError) return stream.fail(outcome);
  try {
    const { variables, call } = stream;
    const args = readArguments(outcome.operation, variables);
    stream.rendering = outcome;
    stream.view = { filter: args.filter, render: outcome.withVariables(args.variables, call, stream.runLimited) };
  } catch (error) {
    stream.fail(changedGraph(error instanceof GraphQLError ? error.message : 'the subscription can no longer run.'));
  }
}

function changedGraph(reason: string, code = 'BAD_USER_INPUT'): GraphQLError {
  return new GraphQLError(`The graph has changed: ${reason}`, { extensions: { code } });
}

function failureOf(error: unknown): FailureReason {
  const code = error instanceof GraphQLError ? error.extensions['code'] : undefined;
  if (code === 'CURSOR_EXPIRED') return 'cursor_expired';
  if (code === 'PAYLOAD_TOO_LARGE') return 'subscription_limit';
  return code === 'SERVICE_UNAVAILABLE' ? 'unavailable' : 'graph_changed';
}

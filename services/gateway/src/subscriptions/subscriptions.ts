import { rateLimited, toGraphQLError, unauthenticated, unavailable } from '@taskmesh/contracts';
import { InvalidOperation, parseExactJson, type PreparedOperation } from '@taskmesh/federation';
import { type Clock, networkOf, siteOf } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlockingWork } from '../supergraph/blocking-work.ts';
import { asGraphQL } from '../supergraph/client-errors.ts';
import type { RequestCall } from '../supergraph/operation.ts';
import type { Graph, LiveGraph } from '../supergraph/live-graph.ts';
import type { AccountShares } from './account-shares.ts';
import { readArguments } from './change-event.ts';
import type { Feed } from '../feed/feed.ts';
import type { Memory } from '../http/memory.ts';
import type { FailureReason, Protocol, SubscriptionMetrics } from '../realtime-metrics.ts';
import { createEventRenderer, type RunLimited, type EventRenderer, type EventRendererDeps } from './event-renderer.ts';
import { openStream, type StreamSink, type View } from './stream.ts';

const RENDERER = 'event renderer';

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export type Subscription = Awaited<ReturnType<Subscriptions['subscribe']>>;

export interface StreamRequest {
  protocol: Protocol;
  operation: PreparedOperation;
  variables: Record<string, unknown>;
  call: RequestCall;
  /** A cursor from the transport; overrides the argument `after`. */
  after?: string;
}

interface Deps extends EventRendererDeps {
  blockingWork: BlockingWork;
  feed: Feed;
  metrics: SubscriptionMetrics;
  clock: Clock;
  graph: LiveGraph;
  shares: AccountShares;
  memory: Pick<Memory, 'isShort'>;
}

/** A running stream; a new graph replaces its view, or ends it. */
interface LiveStream {
  readonly variables: Record<string, unknown>;
  readonly call: RequestCall;
  readonly runLimited: RunLimited;
  view: View;
  fail(error: GraphQLError): void;
}

/** A document with running streams, compiled once for all that have the same conditions, whether or not it is still cached. */
class LiveDocument {
  readonly streams = new Set<LiveStream>();
  rendering: EventRenderer;

  constructor(rendering: EventRenderer) {
    this.rendering = rendering;
  }

  get bytes(): number {
    return this.rendering.operation.bytes;
  }
}

const FULL = 'The subscriptions of this account or network would cost or keep too much together (docs/limits.md).';

export function createSubscriptions(deps: Deps) {
  const { feed, graph, clock, metrics, shares, memory, blockingWork } = deps;
  /** All of them are on the current graph. */
  const documents = new Map<string, LiveDocument>();

  // Plan all documents on the new graph while the old one still serves events; then switch all streams over between
  // two events. Positions in the feed are not affected.
  graph.beforeSwitch(async (next) => {
    const planned = new Map<LiveDocument, EventRenderer | GraphQLError>();
    for (const document of documents.values()) {
      planned.set(document, planOn(next, document, deps));
      await nextTurn();
    }
    return () => {
      for (const [key, document] of documents) {
        const outcome = planned.get(document) ?? planOn(next, document, deps);
        if (outcome instanceof GraphQLError) documents.delete(key);
        else document.rendering = outcome;
        for (const stream of document.streams) moveTo(outcome, stream);
      }
    };
  });

  const documentOf = (operation: PreparedOperation, variables: StreamRequest['variables']): LiveDocument => {
    const live = documents.get(operation.settledId(variables));
    if (live) return live;
    const { current } = graph;
    return new LiveDocument(renderingOf(current, current.settle(onCurrent(current, operation), variables), deps));
  };
  const refuse = (protocol: Protocol): GraphQLError => {
    metrics.failed(protocol, 'subscription_limit');
    return toGraphQLError(rateLimited(1, FULL));
  };
  const planQueued = async (request: StreamRequest, accountId: string): Promise<PreparedOperation> => {
    const { operation, variables, call, protocol } = request;
    if (documents.has(operation.settledId(variables)) || operation.partOf.has(RENDERER)) return operation;
    // Planning takes long, and others of the network wait for it.
    if (!shares.affords(accountId, operation.cost(variables))) throw refuse(protocol);
    const plan = () => documentOf(operation, variables).rendering.operation;
    return blockingWork.run(networkOf(call.ip), plan, call.signal).catch((error: unknown) => {
      throw asGraphQL(error);
    });
  };

  return {
    /**
     * Runs `Subscription.taskChanges` for the call's user until the stream ends or is stopped.
     * @throws GraphQLError when it cannot begin
     */
    async subscribe(request: StreamRequest, sink: StreamSink) {
      const { protocol, call } = request;
      const { identity } = call;
      if (identity.role !== 'user') throw toGraphQLError(unauthenticated());
      if (memory.isShort()) throw toGraphQLError(unavailable());
      // Looked up again: meanwhile another stream may have been first, or the graph may have changed.
      const document = documentOf(await planQueued(request, identity.userId), request.variables);
      const { rendering } = document;
      const { operation } = rendering;
      const variables = JSON.stringify(request.variables);
      // A copy, because default values are slices of a document's text, and would keep all of it.
      const args = readArguments(operation, parseExactJson(variables) as Record<string, unknown>);
      const share = shares.reserve(identity.userId, {
        key: rendering.keyOf(args.variables),
        cost: operation.cost(args.variables),
        document,
        variableCharacters: variables.length,
        network: siteOf(networkOf(call.ip)),
      });
      if (!share) throw refuse(protocol);
      const since = clock.now();
      const after = request.after ?? args.after;
      const getsCursors = request.after !== undefined || args.canResume;
      let knowsCursor = after !== undefined;
      const stream = openStream(
        sink,
        share,
        (change) => {
          knowsCursor = true;
          metrics.delivered(protocol, change, since);
        },
        (error) => metrics.failed(protocol, failureOf(error)),
      );
      const live: LiveStream = {
        variables: args.variables,
        call,
        runLimited: share.runLimited,
        view: { filter: args.filter, render: rendering.withVariables(args.variables, call, share.runLimited) },
        fail: stream.fail,
      };
      const { id } = operation; // not the operation, which belongs to its graph
      documents.set(id, document);
      document.streams.add(live);
      let unsubscribed = () => {};
      stream.onOver(() => {
        document.streams.delete(live);
        if (document.streams.size === 0 && documents.get(id) === document) documents.delete(id);
        share.release();
        unsubscribed();
      });
      await stream.read(feed, { owner: identity.userId, after, signal: call.signal, view: () => live.view });
      if (!stream.isOver()) unsubscribed = metrics.subscribed(protocol);
      return {
        /** Whether the client can resume from a cursor: its events have cursors, and it sent one or has received an event. */
        canResume: () => getsCursors && knowsCursor,
        /** The cursor after the changes that the filter has excluded since the last event, if any. */
        position: stream.position,
        stop: stream.stop,
      };
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
function planOn(next: Graph, { rendering, streams: [stream] }: LiveDocument, deps: EventRendererDeps) {
  const { source, operationName } = rendering.operation;
  try {
    return renderingOf(next, next.settle(next.admit(source, operationName), stream?.variables ?? {}), deps);
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

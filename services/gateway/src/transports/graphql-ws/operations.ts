import { rateLimited, toGraphQLError } from '@taskmesh/contracts';
import { InvalidOperation } from '@taskmesh/federation';
import { type Span, runInSpan } from '@taskmesh/service';
import { MessageType, type SubscribeMessage, type SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { FormatErrors } from '../../supergraph/client-errors.ts';
import type { AdmittedOperation, RequestCall } from '../../supergraph/operation.ts';
import { asTraceparent } from '../../http/client.ts';
import { holdMessage, tooManyLargeRequests } from '../../http/client-request.ts';
import { encodeText } from '../../http/negotiation.ts';
import type { GatewayContext } from '../../context.ts';
import type { TransportMetrics } from '../transport.ts';
import {
  ALL_RESULTS_MS,
  closeGracefully,
  endSocket,
  type Envelope,
  type FrameOf,
  oweResult,
  SERVICE_RESTART,
  waitForDrain,
  type WriteFrame,
  WS_CLOSE,
} from '@taskmesh/realtime-protocol';
import type { StreamEnd, StreamSink } from '../../subscriptions/stream.ts';
import type { Subscriptions } from '../../subscriptions/subscriptions.ts';

export interface OperationsDeps {
  context: GatewayContext;
  frameOf: FrameOf;
  subscriptions: Subscriptions;
  metrics: TransportMetrics;
  formatErrors: FormatErrors;
}

/** A refused operation may not even parse. Subscriptions may begin with fragments, or be known by an id only. */
const OTHER_KIND = /^(?:[\s,]|#[^\n\r]*[\n\r])*(?:query|mutation|\{)/;

interface Operation {
  readonly id: string;
  /** It is a stream, and owes no result when its socket closes. */
  noteStream(): void;
  /** For streams; false for queries and mutations. */
  canResume(): boolean;
  stop(): void;
}

/** Sends messages to the client: one by one, or as frames that equal streams share. */
interface Output {
  send(message: { type: MessageType; id: string; payload?: unknown }): void;
  /** Sends the result of a query or mutation, as a whole message. */
  sendResult(text: string | Buffer): void;
  write: WriteFrame;
}

/** The operations running on one socket, by the client's ids. */
export function createOperations(socket: WebSocket, output: Output, deps: OperationsDeps) {
  const { send, sendResult, write } = output;
  const { context, frameOf, subscriptions, metrics, formatErrors } = deps;
  const running = new Map<string, Operation>();
  /** Includes streams that are still starting. */
  const streams = new Set<Operation>();
  let mayStream = true;

  const isRunning = (operation: Operation) => running.get(operation.id) === operation;
  const finish = (operation: Operation) => {
    if (isRunning(operation)) running.delete(operation.id);
    streams.delete(operation);
  };
  const notify = (operation: Operation, type: MessageType, payload?: unknown) => {
    if (isRunning(operation)) send({ id: operation.id, type, payload });
  };
  /** For operations that never ran and streams that cannot continue; results carry their errors in `next`. */
  const fail = (operation: Operation, errors: unknown) => {
    notify(operation, MessageType.Error, errors);
    finish(operation);
  };

  const endStream = (operation: Operation, end: StreamEnd) => {
    if (end.kind === 'failed') return fail(operation, [end.error]);
    finish(operation);
    switch (end.kind) {
      case 'slow':
        return endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
      case 'stopped':
        return closeGracefully(socket, 'restart', SERVICE_RESTART);
      case 'unavailable': // clients do not reconnect after an `error`
        return closeGracefully(
          socket,
          'unavailable',
          [WS_CLOSE.tryLater, 'A service is not available right now'],
          ALL_RESULTS_MS, // mutations may be slow for the same reason
        );
    }
  };
  const sinkOf = (operation: Operation): StreamSink => {
    // Written by hand, because equal streams share the JSON of their events.
    const envelope: Envelope = {
      before: `{"id":${JSON.stringify(operation.id)},"type":"${MessageType.Next}","payload":`,
      after: '}',
    };
    return {
      // A stream may have been cancelled while it was starting.
      next: (json) => !isRunning(operation) || write(frameOf(envelope, json)),
      end: (end) => endStream(operation, end),
      drained: () => waitForDrain(socket),
    };
  };

  const beginStream = async (
    operation: Operation,
    { operation: prepared, variables }: AdmittedOperation,
    call: RequestCall,
  ) => {
    operation.noteStream();
    if (!mayStream) return finish(operation); // `stopStreams` was called before this was known to be a stream
    if (streams.size >= context.config.realtime.maxSubscriptions) {
      metrics.failed('graphql-ws', 'subscription_limit');
      return fail(operation, [toGraphQLError(rateLimited(1, 'Too many subscriptions on this connection.'))]);
    }
    streams.add(operation);
    const starting = new AbortController();
    operation.stop = () => {
      finish(operation);
      starting.abort();
    };
    const stream = await subscriptions.subscribe(
      { protocol: 'graphql-ws', operation: prepared, variables, call: { ...call, signal: starting.signal } },
      sinkOf(operation),
    );
    operation.canResume = stream.canResume;
    operation.stop = () => {
      stream.stop();
      finish(operation);
    };
    if (!isRunning(operation)) operation.stop();
  };

  const run = async (operation: Operation, admitting: Promise<AdmittedOperation>, call: RequestCall) => {
    const admitted = await admitting;
    if (!isRunning(operation)) return; // cancelled before it ran
    if (admitted.operation.operation.operation === 'subscription') return beginStream(operation, admitted, call);
    const result = await context.graph.run(admitted, call);
    const text = await encodeText(JSON.stringify({ id: operation.id, type: MessageType.Next, payload: result }));
    if (isRunning(operation)) sendResult(text);
    notify(operation, MessageType.Complete);
    finish(operation);
  };
  /** Waiting work must not keep the payload, whose objects take many times its text: neither `run` nor a closure in `start` may. */
  const begin = (operation: Operation, payload: SubscribePayload, call: RequestCall, span: Span | undefined) => {
    const work = () =>
      run(operation, context.admission.admit(payload, { isGet: false, canStream: true, caller: call }), call);
    return span ? runInSpan(span, work) : work();
  };

  return {
    has: (id: string): boolean => running.has(id),
    /** Sends every outcome as messages; the socket stays open. The trace context is in `extensions`, because there are no headers. */
    start(
      { id, payload }: SubscribeMessage,
      sizeBytes: number,
      callOf: (traceparent: string | undefined) => RequestCall,
    ) {
      const { promise: isStream, resolve: noteStream } = Promise.withResolvers<void>();
      const operation: Operation = { id, noteStream, canResume: () => false, stop: () => {} };
      running.set(id, operation);
      const traceparent = asTraceparent(payload.extensions?.['traceparent']);
      const span = context.tracing.begin(traceparent, () => ({ name: 'graphql-ws subscribe', kind: 'server' }));
      const call = callOf(span?.traceparent ?? context.tracing.unrecorded(traceparent));
      const release = holdMessage(context.memory, sizeBytes, call.ip);
      const mayBeStream = !OTHER_KIND.test(payload.query);
      const work = (
        release ? begin(operation, payload, call, span) : Promise.reject(toGraphQLError(tooManyLargeRequests()))
      )
        .catch((error: unknown) => {
          const errors = error instanceof InvalidOperation ? error.errors : formatErrors([error], call.requestId);
          const isUnavailable = errors[0]?.extensions?.['code'] === 'SERVICE_UNAVAILABLE';
          if (isUnavailable && isRunning(operation) && (mayBeStream || streams.has(operation)))
            endStream(operation, { kind: 'unavailable' });
          else fail(operation, errors);
        })
        .finally(() => {
          release?.();
          span?.end();
        });
      oweResult(socket, Promise.race([work, isStream]));
    },
    /** The client no longer wants the operation's results. */
    complete(id: string): void {
      const operation = running.get(id);
      running.delete(id);
      operation?.stop();
    },
    /** Whether every stream can resume from a cursor, so that the client misses nothing if the socket is closed and reopened. */
    canResume: () => [...streams].every((stream) => stream.canResume()),
    /** Silences and stops all streams, and refuses new ones; queries and mutations continue. */
    stopStreams(): void {
      mayStream = false;
      for (const operation of [...streams]) {
        finish(operation);
        operation.stop();
      }
    },
  };
}

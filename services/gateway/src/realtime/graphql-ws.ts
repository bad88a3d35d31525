import { rateLimited, toGraphQLError } from '@taskmesh/errors';
import { GraphQLError, type ExecutionArgs } from 'graphql';
import { CloseCode, makeServer, MessageType, type Server } from 'graphql-ws';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { PreparedOperation, RequestCall } from '../graph/executor.ts';
import { asTraceparent } from '../graph/request-call.ts';
import { authorizationOf, type Caller, type GatewayParts } from '../parts.ts';
import { admitted } from './admitted.ts';
import type { EndReason, RealtimeMetrics } from './metrics.ts';
import type { SessionWatch } from './session-watch.ts';
import { drainedSocket, endSocket, failSocket, isTooFarBehind, keepAlive, WS_CLOSE } from './socket.ts';
import type { SocketLimits } from './socket-limits.ts';
import type { StreamEnd, StreamSink, Subscriptions } from './subscriptions.ts';

interface Extra {
  socket: WebSocket;
  request: IncomingMessage;
  caller?: Extract<Caller, { kind: 'user' }>;
  /** By the id of the client's message: what `onSubscribe` let in. */
  operations: Map<string, LetIn>;
  streams: number;
}

interface LetIn {
  operation: PreparedOperation;
  variables: Record<string, unknown>;
  /** A socket has no headers for each message: the trace comes in `extensions`. */
  traceparent: string | undefined;
}

type Options = Parameters<typeof makeServer<Record<string, unknown>, Extra>>[0];

export interface GraphqlWsDeps {
  parts: GatewayParts;
  subscriptions: Subscriptions;
  watch: SessionWatch;
  limits: SocketLimits;
  metrics: RealtimeMetrics;
}

/**
 * The graphql-transport-ws protocol, as https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md has it.
 * Queries and mutations work here, too. The token comes in `connection_init` or in the upgrade's header, and is watched
 * for as long as the socket lives. The library speaks the protocol; only a stream's `next` messages are written here,
 * because equal streams share the text of their events.
 */
export function createGraphqlWs(deps: GraphqlWsDeps): (socket: WebSocket, request: IncomingMessage) => void {
  const server = makeServer(serverOptions(deps));
  return (socket, request) => serve(server, socket, request, deps);
}

function serverOptions({ parts, subscriptions, watch, limits, metrics }: GraphqlWsDeps): Options {
  return {
    async onConnect({ connectionParams, extra }) {
      const { socket } = extra;
      const caller = await authenticate(parts, extra.request, connectionParams);
      // What is taken from here on is given back at the close, which may have come already.
      if (socket.readyState !== socket.OPEN) return undefined;
      if (caller.kind === 'anonymous') endSocket(socket, 'unauthorized', [WS_CLOSE.unauthorized, 'Unauthorized']);
      if (caller.kind === 'invalid') return false; // closes with 4403 Forbidden
      if (caller.kind !== 'user') return undefined;
      const release = limits.takeUser(caller.identity.userId);
      if (!release) return endSocket(socket, 'connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
      extra.caller = caller;
      const unwatch = watch(caller.claims, () => endSocket(socket, 'session_ended', [WS_CLOSE.forbidden, 'Forbidden']));
      socket.once('close', () => {
        release();
        unwatch();
      });
      return undefined;
    },

    onSubscribe({ extra }, id, { query, operationName, variables, extensions }) {
      const found = admitted(parts, query, operationName ?? undefined);
      if (Array.isArray(found)) return found;
      extra.operations.set(id, {
        operation: found,
        variables: variables ?? {},
        traceparent: asTraceparent(extensions?.['traceparent']),
      });
      const { schema } = parts.executor;
      // The library looks at the document for the kind of operation; what runs is found by `id`.
      return { schema, document: found.document, operationName: found.operationName, contextValue: { extra, id } };
    },

    async execute(args: ExecutionArgs) {
      const { extra, operation, variables, traceparent } = take(args);
      return parts.executor.run(operation, variables, callOf(parts, extra, traceparent)) as never; // formatted errors: they only go into JSON
    },

    async subscribe(args: ExecutionArgs) {
      const { extra, id, operation, variables, traceparent } = take(args);
      if (extra.streams >= parts.config.realtime.maxSubscriptions) {
        metrics.failed('graphql-ws', 'subscription_limit');
        return refused(toGraphQLError(rateLimited(1, 'Too many subscriptions on this connection.')));
      }
      const stream = new WrittenStream();
      extra.streams++; // those that are still beginning count, too
      try {
        const stop = await subscriptions.subscribe(
          { protocol: 'graphql-ws', operation, variables, call: callOf(parts, extra, traceparent) },
          sinkOf(extra.socket, id, stream),
        );
        stream.onReturn(() => {
          extra.streams--;
          stop();
        });
        return stream as never; // an iterable without values: the events are written by the sink
      } catch (error) {
        extra.streams--;
        if (error instanceof GraphQLError) return refused(error);
        throw error;
      }
    },
  };
}

function take({ contextValue }: ExecutionArgs) {
  const { extra, id } = contextValue as { extra: Extra; id: string }; // set by onSubscribe
  const found = extra.operations.get(id);
  extra.operations.delete(id);
  if (!found) throw new Error('An operation ran that was not let in.');
  return { extra, id, ...found };
}

function authenticate(
  parts: GatewayParts,
  request: IncomingMessage,
  params: Record<string, unknown> | undefined,
): Promise<Caller> {
  const value = params?.['authorization'] ?? params?.['Authorization'];
  if (value === undefined || value === null || value === '') return parts.authenticate(authorizationOf(request));
  return parts.authenticate([typeof value === 'string' ? value : '']);
}

function callOf(parts: GatewayParts, { caller, request }: Extra, traceparent: string | undefined): RequestCall {
  return {
    identity: caller ? caller.identity : { role: 'anonymous' },
    requestId: randomUUID(),
    traceparent,
    ip: parts.clientIp(request),
    onEndedSessions: (sessions) => parts.endedSessions.announce(sessions),
  };
}

function sinkOf(socket: WebSocket, id: string, stream: WrittenStream): StreamSink {
  const open = `{"id":${JSON.stringify(id)},"type":"${MessageType.Next}","payload":`;
  return {
    next(json) {
      if (isTooFarBehind(socket)) return false;
      socket.send(`${open}${json}}`);
      return true;
    },
    end: (end) => endStream(end, socket, stream),
    drained: () => drainedSocket(socket),
  };
}

/** A stream that cannot begin ends like one that cannot go on: with the protocol's `error` message. */
function refused(error: GraphQLError) {
  const stream = new WrittenStream();
  stream.fail(error);
  return stream as never; // as above
}

function endStream(end: StreamEnd, socket: WebSocket, stream: WrittenStream): void {
  switch (end.kind) {
    case 'failed':
      return stream.fail(end.error);
    case 'slow':
      return endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
    case 'stopped':
      return endSocket(socket, 'restart', [WS_CLOSE.restart, 'Service restart']);
  }
}

/** What the library iterates over: no values, only an end, which is a failure or the client's own doing. */
class WrittenStream implements AsyncIterableIterator<never> {
  #fail: (error: unknown) => void = () => {};
  #finish: () => void = () => {};
  #release: () => void = () => {};
  #isOver = false;
  readonly #end: Promise<void>;

  constructor() {
    this.#end = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    this.#end.catch(() => undefined); // it may fail before anybody looks
  }

  onReturn(release: () => void): void {
    if (this.#isOver) release();
    else this.#release = release;
  }

  fail(error: GraphQLError): void {
    this.#over();
    this.#fail(error);
  }

  async next(): Promise<IteratorResult<never>> {
    await this.#end;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<never>> {
    this.#over();
    this.#finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }
}

/** Why the library closes, where it is no message of the client's that is wrong. */
const REASONS: Record<number, EndReason> = {
  [CloseCode.Unauthorized]: 'unauthorized',
  [CloseCode.Forbidden]: 'unauthorized',
  [CloseCode.ConnectionInitialisationTimeout]: 'silent',
};

function serve(
  server: Server<Extra>,
  socket: WebSocket,
  request: IncomingMessage,
  { limits, parts: { log } }: GraphqlWsDeps,
): void {
  const mayTalk = limits.messages();
  const isWithinRate = () => {
    if (mayTalk()) return true;
    endSocket(socket, 'message_rate', [WS_CLOSE.tryLater, 'Too many messages']);
    return false;
  };
  // The library answers each of them: they count like messages.
  socket.on('ping', isWithinRate);
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) =>
        new Promise((resolve, reject) => {
          if (socket.readyState !== socket.OPEN) return resolve();
          // One that asks and does not read the answers is too slow like any other.
          if (isTooFarBehind(socket)) endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
          socket.send(text, (error) => (error ? reject(error) : resolve()));
        }),
      close: (code = CloseCode.BadRequest, reason = '') =>
        endSocket(socket, REASONS[code] ?? 'bad_message', [code, reason]),
      onMessage: (onMessage) =>
        socket.on('message', (bytes) => {
          if (!isWithinRate() || socket.readyState !== socket.OPEN) return;
          onMessage(String(bytes)).catch((error: unknown) =>
            failSocket(socket, error, log, [CloseCode.InternalServerError, 'Internal server error']),
          );
        }),
    },
    { socket, request, operations: new Map(), streams: 0 },
  );
  keepAlive(socket);
  socket.once('close', (code, reason) => void closed(code, String(reason)));
}

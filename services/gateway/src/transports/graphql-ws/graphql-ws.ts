import { parseExactJson } from '@taskmesh/federation';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType, parseMessage, type Message } from 'graphql-ws';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { RequestCall } from '../../supergraph/operation.ts';
import { connectionOf, headerValues } from '../../http/client.ts';
import { memoryOf, parseJsonObject, partsOf } from '../../http/json-body.ts';
import type { Caller, GatewayContext } from '../../context.ts';
import { createOperations, type OperationsDeps } from './operations.ts';
import {
  ALL_RESULTS_MS,
  closeGracefully,
  createMessageRate,
  createFrames,
  cutFloods,
  endSocket,
  failSocket,
  frameWriter,
  hasTooManyResults,
  isLeaving,
  isTooFarBehind,
  keepAlive,
  retire,
  sendResult,
  WS_CLOSE,
} from '@taskmesh/realtime-protocol';
import { isTemporary } from '../tasks-channel.ts';
import type { TransportDeps } from '../transport.ts';

/** Time allowed for `connection_init`. */
const INIT_MS = 3_000;
/** How long operations may take to end once the token has expired. Ten seconds after that, the socket must be closed. */
const EXPIRED_RESULTS_MS = 8_000;
/** Ids of operations are kept, and repeated with each event. Client libraries use numbers or UUIDs. */
const MAX_ID_LENGTH = 255;

export type GraphqlWsDeps = TransportDeps & Omit<OperationsDeps, 'frameOf'>;

type User = Extract<Caller, { kind: 'user' }>;

/**
 * One socket of the graphql-transport-ws protocol: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 * Queries and mutations work here, too. The token comes in `connection_init` or in the upgrade request's header, and is
 * watched for the life of the socket. The library only parses messages. We track running operations ourselves, because
 * the library knows an operation by its id alone, which a client may reuse as soon as it has sent `complete`.
 */
export function createGraphqlWs(deps: GraphqlWsDeps): (socket: WebSocket, request: IncomingMessage) => void {
  const frameOf = createFrames();
  return (socket, request) => serve(socket, request, { ...deps, frameOf });
}

function serve(socket: WebSocket, request: IncomingMessage, deps: GraphqlWsDeps & OperationsDeps): void {
  const { context, heartbeats, limitAge, reserveUser, watch } = deps;
  const mayTalk = createMessageRate(context.config.realtime.maxMessagesPerS);
  // Read now: a socket lives for hours, and would keep the request for as long.
  const handshake = { authorization: headerValues(request, 'authorization'), ...connectionOf(context, request) };
  let caller: User | undefined;
  let isInitialised = false;

  // A close frame has room for 123 bytes; a character cut in half becomes a replacement character of three bytes.
  const refuse = (code: number, reason: string) =>
    endSocket(socket, 'bad_message', [code, Buffer.from(reason).toString('utf8', 0, 120)]);
  const unauthorized = (code: number, reason: string) => endSocket(socket, 'unauthorized', [code, reason]);
  const isWithinRate = () => {
    if (mayTalk()) return true;
    if (isLeaving(socket)) return false;
    // Finish the operations that the client has started: otherwise it would send them again after it reconnects.
    closeGracefully(socket, 'message_rate', [WS_CLOSE.tryLater, 'Too many messages'], ALL_RESULTS_MS);
    return false;
  };
  // A client that sends requests but does not read the responses is too slow like any other.
  const endSlow = () => endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
  const send = (message: { type: MessageType; id?: string; payload?: unknown }) => {
    if (isTooFarBehind(socket)) endSlow();
    else socket.send(JSON.stringify(message));
  };
  const output = {
    send,
    sendResult(text: string | Buffer) {
      if (hasTooManyResults(socket)) endSlow();
      else sendResult(socket, text);
    },
    write: frameWriter(socket, request.socket),
  };
  const operations = createOperations(socket, output, deps);

  /** Takes only the token, so that the payload, which may be large, is not kept while the token is looked up. */
  const initialise = async (token: unknown) => {
    if (isInitialised) return refuse(CloseCode.TooManyInitialisationRequests, 'Too many initialisation requests');
    isInitialised = true;
    const authenticated = authenticate(context, handshake, token);
    handshake.authorization = []; // not kept for hours
    const found = await authenticated;
    // The socket may have closed meanwhile. What is acquired from here on is released by its close handler below.
    if (socket.readyState !== socket.OPEN) return;
    if (found.kind === 'anonymous') return unauthorized(CloseCode.Unauthorized, 'Unauthorized');
    if (found.kind === 'invalid') return unauthorized(CloseCode.Forbidden, 'Forbidden');
    const release = reserveUser(found.identity.userId);
    if (!release) return endSocket(socket, 'connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
    const unwatch = watch(found.claims, () => {
      operations.stopStreams();
      const resultsMs = found.claims.exp * 1_000 <= context.clock.now() ? EXPIRED_RESULTS_MS : undefined;
      closeGracefully(socket, 'session_ended', [CloseCode.Forbidden, 'Forbidden'], resultsMs);
    });
    socket.once('close', () => {
      release();
      unwatch();
    });
    caller = found;
    send({ type: MessageType.ConnectionAck });
  };

  const onMessage = async (bytes: Buffer) => {
    const parts = partsOf(bytes);
    const message = tryToParse(bytes, parts);
    // Answer pings until the end: otherwise the client would consider the socket lost, along with the results it waits for.
    if (isLeaving(socket) && message?.type !== MessageType.Ping) return;
    switch (message?.type) {
      case MessageType.ConnectionInit:
        return initialise(message.payload?.['authorization'] ?? message.payload?.['Authorization']);
      case MessageType.Ping:
        return send({ type: MessageType.Pong, payload: message.payload ?? undefined });
      case MessageType.Pong:
        return;
      case MessageType.Subscribe: {
        const user = caller;
        if (!user) return unauthorized(CloseCode.Unauthorized, 'Unauthorized');
        if (message.id.length > MAX_ID_LENGTH)
          return refuse(CloseCode.BadRequest, `An id has at most ${MAX_ID_LENGTH} characters`);
        if (operations.has(message.id))
          return refuse(CloseCode.SubscriberAlreadyExists, `Subscriber for ${message.id} already exists`);
        return operations.start(message, memoryOf(bytes, parts), (traceparent) =>
          callOf(context, user, handshake, traceparent),
        );
      }
      case MessageType.Complete:
        return operations.complete(message.id);
      default:
        return refuse(CloseCode.BadRequest, 'Invalid message received');
    }
  };

  keepAlive(socket, heartbeats);
  cutFloods(socket, context.config.realtime.maxMessagesPerS);
  const stopAgeing = limitAge(() => retire(socket), operations.canResume);
  socket.once('close', stopAgeing);
  if (socket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL)
    return refuse(CloseCode.SubprotocolNotAcceptable, 'Subprotocol not acceptable');
  const tooLate = setTimeout(() => {
    if (!isInitialised)
      endSocket(socket, 'silent', [CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout']);
  }, INIT_MS);
  // The library answers every ping, so pings count as messages.
  socket.on('ping', isWithinRate);
  socket.on('message', (bytes) => {
    if (socket.readyState !== socket.OPEN || !isWithinRate()) return;
    onMessage(bytes as Buffer).catch(
      // as `binaryType` is by default
      (error: unknown) =>
        failSocket(socket, error, { isTemporary, log: context.log }, [
          CloseCode.InternalServerError,
          'Internal server error',
        ]),
    );
  });
  socket.once('close', () => {
    clearTimeout(tooLate);
    operations.stopStreams();
  });
}

function tryToParse(bytes: Buffer, parts: number): Message | undefined {
  try {
    return parseMessage(parseJsonObject(bytes, parseExactJson, parts));
  } catch {
    return undefined;
  }
}

function authenticate(
  context: GatewayContext,
  { authorization, ip }: { authorization: string[]; ip: string },
  token: unknown,
): Promise<Caller> {
  const isAbsent = token === undefined || token === null || token === '';
  const presented = typeof token === 'string' ? token : '';
  return context.authenticate(isAbsent ? authorization : [presented], () => ip);
}

function callOf(
  context: GatewayContext,
  { identity }: User,
  { ip, client, signal }: ReturnType<typeof connectionOf>,
  traceparent: string | undefined,
): RequestCall {
  return {
    ...{ identity, requestId: randomUUID(), traceparent, ip, client, signal },
    onEndedSessions: (sessions) => context.endedSessions.announce(sessions),
  };
}

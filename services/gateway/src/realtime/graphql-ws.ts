import { GraphQLError, type ExecutionArgs } from 'graphql';
import { CloseCode, makeServer, type Server } from 'graphql-ws';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { InvalidOperation, type PreparedOperation, type RequestCall } from '../graph/executor.ts';
import { authorizationOf, type Caller, type GatewayParts } from '../parts.ts';
import type { SessionWatch } from './session-watch.ts';
import { Draining, TooSlow, type Subscriptions } from './subscriptions.ts';

/** How often a silent connection is asked whether it still lives. */
const PING_EVERY_MS = 12_000;
const CLOSE = { unauthorized: 4401, forbidden: 4403, restart: 1012, tryLater: 1013 } as const;

interface Extra {
  socket: WebSocket;
  request: IncomingMessage;
  caller?: Extract<Caller, { kind: 'user' }>;
  /** By the id of the client's message: what `onSubscribe` admitted. */
  operations: Map<string, { operation: PreparedOperation; variables: Record<string, unknown> }>;
}

type Options = Parameters<typeof makeServer<Record<string, unknown>, Extra>>[0];

export interface GraphqlWs {
  /** Takes over a socket that speaks `graphql-transport-ws`. */
  opened(socket: WebSocket, request: IncomingMessage): void;
}

/**
 * The graphql-transport-ws protocol, as https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md has it.
 * Queries and mutations work here, too. The token comes in `connection_init` or in the upgrade's header, and is watched
 * for as long as the socket lives.
 */
export function createGraphqlWs(parts: GatewayParts, subscriptions: Subscriptions, watch: SessionWatch): GraphqlWs {
  const server = makeServer(serverOptions(parts, subscriptions, watch));
  return { opened: (socket, request) => serve(server, socket, request) };
}

function serverOptions(parts: GatewayParts, subscriptions: Subscriptions, watch: SessionWatch): Options {
  return {
    async onConnect({ connectionParams, extra }) {
      const caller = await authenticate(parts, extra.request, connectionParams);
      if (caller.kind === 'anonymous') {
        extra.socket.close(CLOSE.unauthorized, 'Unauthorized');
        return undefined;
      }
      if (caller.kind === 'invalid') return false; // closes with 4403 Forbidden
      extra.caller = caller;
      extra.socket.once('close', watch(caller.claims, () => extra.socket.close(CLOSE.forbidden, 'Forbidden')));
      return undefined;
    },

    onSubscribe({ extra }, id, { query, operationName, variables, extensions: _ignored }) {
      const admitted = admit(parts, query, operationName ?? undefined);
      if (Array.isArray(admitted)) return admitted;
      extra.operations.set(id, { operation: admitted, variables: variables ?? {} });
      const { schema } = parts.executor;
      // The document is the client's; what runs is looked up by `id`.
      return { schema, document: admitted.document, operationName: admitted.operationName, contextValue: { extra, id } };
    },

    async execute(args: ExecutionArgs) {
      const { extra, operation, variables } = take(args);
      return parts.executor.run(operation, variables, callOf(parts, extra)) as never; // formatted errors: they only go into JSON
    },

    async subscribe(args: ExecutionArgs) {
      const { extra, operation, variables } = take(args);
      try {
        const stream = await subscriptions.subscribe(operation, variables, callOf(parts, extra));
        return closing(stream, extra.socket) as never; // as above
      } catch (error) {
        if (error instanceof GraphQLError) return { errors: [error] };
        throw error;
      }
    },
  };
}

function take({ contextValue }: ExecutionArgs) {
  const { extra, id } = contextValue as { extra: Extra; id: string }; // set by onSubscribe
  const found = extra.operations.get(id);
  extra.operations.delete(id);
  if (!found) throw new Error('An operation ran that was not admitted.');
  return { extra, ...found };
}

function admit(parts: GatewayParts, query: string, operationName: string | undefined): PreparedOperation | GraphQLError[] {
  try {
    return parts.admit(query, operationName);
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error;
    return error.errors.map(
      (cause) => new GraphQLError(cause.message, { nodes: cause.nodes, source: cause.source, positions: cause.positions, extensions: { code: error.code, ...cause.extensions } }),
    );
  }
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

function callOf(parts: GatewayParts, { caller, request }: Extra): RequestCall {
  return {
    identity: caller ? caller.identity : { role: 'anonymous' },
    requestId: randomUUID(),
    traceparent: undefined,
    ip: parts.clientIp(request),
    onEndedSessions: (sessions) => parts.endedSessions.announce(sessions),
  };
}

/** A stream that ends because of its transport ends the transport: the client comes back and resumes. */
function closing<Value>(stream: AsyncIterableIterator<Value>, socket: WebSocket): AsyncIterableIterator<Value> {
  return {
    async next() {
      try {
        return await stream.next();
      } catch (error) {
        if (error instanceof TooSlow) socket.close(CLOSE.tryLater, 'Too slow');
        else if (error instanceof Draining) socket.close(CLOSE.restart, 'Service restart');
        else throw error;
        return { done: true, value: undefined };
      }
    },
    return: async () => (await stream.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function serve(server: Server<Extra>, socket: WebSocket, request: IncomingMessage): void {
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) =>
        new Promise((resolve, reject) => {
          if (socket.readyState !== socket.OPEN) return resolve();
          socket.send(text, (error) => (error ? reject(error) : resolve()));
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (onMessage) =>
        socket.on('message', (bytes) => {
          onMessage(String(bytes)).catch(() => socket.close(CloseCode.InternalServerError, 'Internal server error'));
        }),
    },
    { socket, request, operations: new Map() },
  );
  const stopPinging = keepAlive(socket);
  socket.once('close', (code, reason) => {
    stopPinging();
    void closed(code, String(reason));
  });
  // Whatever is wrong with one socket ends that socket only.
  socket.on('error', () => socket.terminate());
}

function keepAlive(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_EVERY_MS);
  return () => clearInterval(timer);
}

import { toTaskmeshError, type GraphqlError } from '../errors.ts';
import { TASK_CHANGES, type TaskChangesSubscriptionVariables } from '../operations.generated.ts';
import type { Time } from '../time.ts';
import {
  CUT,
  endOf,
  endOfError,
  SILENCE_MS,
  deliverResult,
  type FeedDeps,
  type FeedEnd,
  type FeedListener,
  type FeedResult,
  type OpenFeed,
} from './feed.ts';

export interface SocketDeps extends FeedDeps {
  WebSocket: typeof WebSocket;
  /** The signed-in user. A socket belongs to the user who opened it until it closes. */
  userId: () => string | undefined;
  time: Pick<Time, 'after'>;
}

/** Messages of the graphql-transport-ws protocol. */
type Message =
  | { type: 'connection_ack' | 'ping' | 'pong' }
  | { type: 'next'; id: string; payload: FeedResult }
  | { type: 'error'; id: string; payload: GraphqlError[] }
  | { type: 'complete'; id: string };

interface Subscription {
  variables: TaskChangesSubscriptionVariables;
  listener: FeedListener;
}

type Connection = ReturnType<typeof connect>;

const PING_MS = 12_000;
/** How many subscriptions the server allows on a socket by default. */
const MAX_SUBSCRIPTIONS = 20;
/** An unused socket stays open this long, because one list often replaces another. */
const LINGER_MS = 1_000;
/** Close codes for a missing or expired token. */
const UNAUTHENTICATED = new Set([4401, 4403]);

/** Subscriptions share a socket as far as the server permits. https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
export function createSocketFeed(deps: SocketDeps): OpenFeed {
  let connection: Connection | undefined;
  return (variables, listener) => {
    const subscription = { variables, listener };
    const stop = connection?.add(subscription);
    if (stop) return stop;
    connection = connect(deps);
    return connection.add(subscription) ?? (() => undefined);
  };
}

function connect({ url, token, userId, WebSocket, time }: SocketDeps) {
  const subscriptions = new Map<string, Subscription>();
  const owner = userId();
  let socket: WebSocket | undefined;
  let used: string | undefined;
  let ids = 0;
  let limit = MAX_SUBSCRIPTIONS;
  let isAcknowledged = false;
  let isOver = false;
  let cancelPing: (() => void) | undefined;
  let cancelSilence = () => {};
  let cancelClose = () => {};

  /** True as soon as the server closes the socket, before the browser reports it: the socket accepts nothing from then on. */
  const isClosing = () => socket !== undefined && socket.readyState > WebSocket.OPEN;
  const send = (message: object) => {
    if (!isClosing()) socket?.send(JSON.stringify(message));
  };
  const end = (reason: FeedEnd) => {
    if (isOver) return;
    isOver = true;
    cancelPing?.();
    cancelSilence();
    cancelClose();
    socket?.close();
    for (const { listener } of subscriptions.values()) listener.onEnd(reason);
  };
  const restartSilence = () => {
    cancelSilence();
    cancelSilence = time.after(SILENCE_MS, () => end(CUT));
  };
  /** Called for each message: in hidden pages, browsers delay timers that begin in timers by up to a minute. */
  const pingLater = () => {
    cancelPing ??= time.after(PING_MS, () => {
      cancelPing = undefined;
      send({ type: 'ping' });
    });
  };
  const subscribe = (id: string, { variables, listener }: Subscription) => {
    send({ id, type: 'subscribe', payload: { query: TASK_CHANGES, variables } });
    listener.onSubscribed();
  };
  const finish = (id: string, reason: FeedEnd | undefined) => {
    const subscription = reason && subscriptions.get(id);
    if (!subscription) return;
    forget(id);
    subscription.listener.onEnd(reason);
  };
  const forget = (id: string) => {
    subscriptions.delete(id);
    if (subscriptions.size === 0) cancelClose = time.after(LINGER_MS, () => end(CUT));
  };
  const handle = (message: Message) => {
    switch (message.type) {
      case 'connection_ack':
        isAcknowledged = true;
        return subscriptions.forEach((subscription, id) => subscribe(id, subscription));
      case 'ping':
        return send({ type: 'pong' });
      case 'pong':
        return undefined;
      case 'next': {
        const subscription = subscriptions.get(message.id);
        const reason = subscription && deliverResult(message.payload, subscription.listener, used);
        if (reason) send({ id: message.id, type: 'complete' });
        return finish(message.id, reason);
      }
      case 'error': {
        const reason = endOf(message.payload, used);
        const [refused] = message.payload;
        if (refused?.extensions?.code === 'RATE_LIMITED') limit = subscriptions.size - 1; // the retry uses another socket
        return finish(message.id, reason);
      }
      case 'complete':
        return finish(message.id, CUT);
    }
  };
  const open = async () => {
    used = await token();
    if (isOver) return;
    if (used === undefined || owner !== userId()) return end({ reason: 'unauthenticated', token: undefined });
    socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
    socket.onopen = () => send({ type: 'connection_init', payload: { authorization: `Bearer ${used}` } });
    socket.onclose = ({ code }) => end(UNAUTHENTICATED.has(code) ? { reason: 'unauthenticated', token: used } : CUT);
    socket.onmessage = ({ data }) => {
      if (isOver) return;
      restartSilence();
      pingLater();
      const message = parseMessage(String(data));
      if (message) handle(message);
      else end(CUT);
    };
  };

  restartSilence();
  open().catch((error: unknown) => end(endOfError(toTaskmeshError(error), undefined)));

  return {
    /** Undefined when the connection is closed, full, or belongs to another user, so that a new one is needed. */
    add(subscription: Subscription) {
      if (isOver || isClosing() || owner !== userId() || subscriptions.size >= limit) return undefined;
      cancelClose();
      const id = String(++ids);
      subscriptions.set(id, subscription);
      if (isAcknowledged) subscribe(id, subscription);
      return () => {
        if (!subscriptions.has(id) || isOver) return void subscriptions.delete(id);
        if (isAcknowledged) send({ id, type: 'complete' });
        forget(id);
      };
    },
  };
}

/** Undefined for what is not JSON, for example from a proxy. */
function parseMessage(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message; // as the protocol defines it
  } catch {
    return undefined;
  }
}

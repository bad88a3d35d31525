import { connectChannel } from './channel.ts';
import { CHANGES, CHANGES_WITH_NAMES, takeErrors, takeResult, type GraphqlResult } from './graphql-change.ts';
import { connectMultipart, connectSse } from './http.ts';
import { EMPTY_LIST, openStream, type Connect, type Stream, type StreamOptions } from './stream.ts';
import { WebSocket } from 'ws';

/** Close codes after which a client reconnects: the gateway is stopping or overloaded. All others are failures. */
const TRANSIENT_CLOSES = new Set([1006, 1012, 1013]);

/** graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
const connectGraphqlWs =
  (query: string): Connect =>
  ({ url, token, after }, listener) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, ['graphql-transport-ws']);
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    socket.on('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    socket.on('error', () => listener.onEnd());
    socket.on('close', (code, reason) => {
      if (!TRANSIENT_CLOSES.has(code)) listener.onFailure(`closed with ${code} ${String(reason)}`);
      listener.onEnd();
    });
    socket.on('message', (bytes) => {
      const message = JSON.parse(String(bytes)) as { type: string; payload?: unknown };
      switch (message.type) {
        case 'connection_ack':
          send({ id: '1', type: 'subscribe', payload: { query, variables: { after } } });
          return listener.onSubscribed();
        case 'next':
          return takeResult(message.payload as GraphqlResult, listener); // the format of the protocol
        case 'error':
          return takeErrors(message.payload as GraphqlResult['errors'], listener); // the format of the protocol
        case 'complete':
          return listener.onEnd();
      }
    });
    return () => socket.terminate();
  };

export type Protocol = Pick<StreamOptions, 'protocol' | 'connect' | 'repeatsBehindCursor'>;

const GRAPHQL_WS: Protocol = { protocol: 'graphql-ws', connect: connectGraphqlWs(CHANGES) };
const MULTIPART: Protocol = { protocol: 'multipart', connect: connectMultipart(CHANGES_WITH_NAMES) };

/** Every protocol of the feed. */
export const PROTOCOLS: Protocol[] = [
  GRAPHQL_WS,
  { protocol: 'sse', connect: connectSse(CHANGES) },
  MULTIPART,
  { protocol: 'channel 1.0.0', connect: connectChannel('1.0.0'), repeatsBehindCursor: true },
  { protocol: 'channel 2.0.0', connect: connectChannel('2.0.0'), repeatsBehindCursor: true },
];

/** The protocols with a field of another service in every event. */
export const PROTOCOLS_WITH_NAMES: Protocol[] = [
  { protocol: 'graphql-ws, names', connect: connectGraphqlWs(CHANGES_WITH_NAMES) },
  { protocol: 'sse, names', connect: connectSse(CHANGES_WITH_NAMES) },
  MULTIPART,
];

/** Follows a feed over graphql-ws, after a cursor or from now on, at these gateways in turn. */
export const subscribe = (urls: string[], token: string, after = ''): Promise<Stream> =>
  openStream({ ...GRAPHQL_WS, urls, token, list: { ...EMPTY_LIST, cursor: after } });

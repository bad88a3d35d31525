import { WebSocket } from 'ws';
import { takeErrors, takeResult, type GraphqlResult } from './graphql-change.ts';
import type { Connect } from './stream.ts';

/** Closes after which a client comes back: the gateway stops, or has too much to do. Any other has a meaning. */
const TRANSIENT_CLOSES = new Set([1006, 1012, 1013]);

/** graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
export const connectGraphqlWs =
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
          return listener.onStanding();
        case 'next':
          return takeResult(message.payload as GraphqlResult, listener); // the protocol's
        case 'error':
          return takeErrors(message.payload as GraphqlResult['errors'], listener); // the protocol's
        case 'complete':
          return listener.onEnd();
      }
    });
    return () => socket.terminate();
  };

import type { WebSocket } from 'ws';
import { drainedSocket, endSocket, isTooFarBehind, WS_CLOSE } from '../socket.ts';
import type { Outlet } from './channel.ts';
import { encode, type Message, type ProtocolVersion } from './frames.ts';

/** What a server says on one socket. */
export interface Wire {
  send(message: Message): void;
  reply(to: Message, status: 'ok' | 'error', response: Record<string, unknown>): void;
  system(channel: ChannelAddress, payload: Record<string, unknown>): void;
  /** The channel is over; the client does not come back by itself. */
  closeChannel(channel: ChannelAddress): void;
  /** The channel has failed; the client joins it again. */
  failChannel(channel: ChannelAddress, payload?: Record<string, unknown>): void;
  readonly outlet: Outlet;
}

export interface ChannelAddress {
  topic: string;
  joinRef: string | null;
}

export function createWire(socket: WebSocket, version: ProtocolVersion): Wire {
  const say = (message: Message) => {
    if (socket.readyState === socket.OPEN) socket.send(encode(version, message));
  };
  /** What a client asked for: one that does not read its answers is too slow like any other. */
  const send = (message: Message) => {
    if (isTooFarBehind(socket)) endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
    say(message);
  };
  return {
    send,
    reply: ({ joinRef, ref, topic }, status, response) =>
      send({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } }),
    system: ({ topic, joinRef }, payload) =>
      say({
        joinRef,
        ref: null,
        topic,
        event: 'system',
        payload: { ...payload, channel: topic.replace(/^realtime:/, '') },
      }),
    closeChannel: ({ topic, joinRef }) => say({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} }),
    failChannel: ({ topic, joinRef }, payload = {}) =>
      say({ joinRef, ref: joinRef, topic, event: 'phx_error', payload }),
    outlet: {
      version,
      write(text) {
        if (isTooFarBehind(socket)) return false;
        socket.send(text);
        return true;
      },
      drained: () => drainedSocket(socket),
    },
  };
}

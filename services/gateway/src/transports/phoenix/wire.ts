import type { WebSocket } from 'ws';
import { waitForDrain, endSocket, isTooFarBehind, WS_CLOSE } from '../sockets/socket.ts';
import { encode, framer, type Message, type ProtocolVersion } from './frames.ts';

/** What a server says on one socket. */
export interface Wire {
  send(message: Message): void;
  reply(
    to: Pick<Message, 'joinRef' | 'ref' | 'topic'>,
    status: 'ok' | 'error',
    response: Record<string, unknown>,
  ): void;
  system(channel: ChannelAddress, payload: Record<string, unknown>): void;
  /** The channel is over; the client does not come back by itself. */
  closeChannel(channel: ChannelAddress): void;
  /** The channel has failed; the client joins it again. */
  failChannel(channel: ChannelAddress, payload?: Record<string, unknown>): void;
  /** Frames for `write` with this head, whose payloads are JSON already. */
  framer(head: Omit<Message, 'payload'>): (payload: string) => string;
  /** False: the client is too far behind, and is not told this. */
  write(frame: string): boolean;
  drained(): Promise<void>;
}

export interface ChannelAddress {
  readonly topic: string;
  readonly joinRef: string | null;
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
      say({ joinRef, ref: null, topic, event: 'system', payload: { ...payload, channel: nameOf(topic) } }),
    closeChannel: ({ topic, joinRef }) => say({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} }),
    failChannel: ({ topic, joinRef }, payload = {}) =>
      say({ joinRef, ref: joinRef, topic, event: 'phx_error', payload }),
    framer: (head) => framer(version, head),
    write(frame) {
      if (isTooFarBehind(socket)) return false;
      socket.send(frame);
      return true;
    },
    drained: () => waitForDrain(socket),
  };
}

/** The part of a topic that the client chose. */
export function nameOf(topic: string): string {
  return topic.replace(/^realtime:/, '');
}

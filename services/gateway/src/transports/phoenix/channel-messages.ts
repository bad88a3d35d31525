import type { WebSocket } from 'ws';
import { waitForDrain, endSocket, isTooFarBehind, WS_CLOSE, type WriteFrame } from '../sockets/socket.ts';
import type { Envelope, FrameOf } from '../sockets/text-frames.ts';
import { encode, envelopeOf, type Message, type ProtocolVersion } from './frames.ts';

/** Writes the server's messages to one socket. */
export interface ChannelMessages {
  send(message: Message): void;
  /** A client's own message, in the form in which it came. */
  echo(message: Message): void;
  reply(
    to: Pick<Message, 'joinRef' | 'ref' | 'topic'>,
    status: 'ok' | 'error',
    response: Record<string, unknown>,
  ): void;
  system(channel: ChannelAddress, payload: Record<string, unknown>): void;
  /** The channel has ended; clients do not rejoin by themselves. */
  closeChannel(channel: ChannelAddress): void;
  /** The channel has failed; clients rejoin it. */
  failChannel(channel: ChannelAddress, payload?: Record<string, unknown>): void;
  /** For messages with this head that are sent by `write`. */
  envelope(head: Omit<Message, 'payload'>): Envelope;
  /** Returns false, and writes nothing, when the client is too far behind. The payload is already JSON. */
  write(envelope: Envelope, payload: string): boolean;
  drained(): Promise<void>;
}

export interface ChannelAddress {
  readonly topic: string;
  readonly joinRef: string | null;
}

export interface WireOptions {
  socket: WebSocket;
  version: ProtocolVersion;
  writeFrame: WriteFrame;
  frameOf: FrameOf;
}

export function createChannelMessages({ socket, version, writeFrame, frameOf }: WireOptions): ChannelMessages {
  const write = (frame: string | Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(frame);
  };
  const say = (message: Message) => write(encode(version, message));
  /** A client that does not read the answers it asked for is too slow like any other. */
  const answer = (frame: string | Buffer) => {
    if (isTooFarBehind(socket)) endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
    write(frame);
  };
  const send = (message: Message) => answer(encode(version, message));
  return {
    send,
    echo: (message) => (message.echo ? answer(message.echo) : send({ ...message, ref: null })),
    reply: ({ joinRef, ref, topic }, status, response) =>
      send({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } }),
    system: ({ topic, joinRef }, payload) =>
      say({ joinRef, ref: null, topic, event: 'system', payload: { ...payload, channel: nameOf(topic) } }),
    closeChannel: ({ topic, joinRef }) => say({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} }),
    failChannel: ({ topic, joinRef }, payload = {}) =>
      say({ joinRef, ref: joinRef, topic, event: 'phx_error', payload }),
    envelope: (head) => envelopeOf(version, head),
    write: (envelope, payload) => writeFrame(frameOf(envelope, payload)),
    drained: () => waitForDrain(socket),
  };
}

export function nameOf(topic: string): string {
  return topic.replace(/^realtime:/, '');
}

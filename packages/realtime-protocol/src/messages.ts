import type { WebSocket } from 'ws';
import {
  endSocket,
  type Envelope,
  type FrameOf,
  isTooFarBehind,
  waitForDrain,
  type WriteFrame,
  WS_CLOSE,
} from './socket.ts';
import { isObject } from './table.ts';

/** Deeper payloads could overflow the stack when they are processed. */
const MAX_DEPTH = 32;
/** Limited because channels keep their refs. The binary format stores their lengths in one byte. */
const MAX_REF_LENGTH = 255;

/** A Phoenix channel message, independent of the protocol version. Refs are decimal strings. */
export interface Message {
  joinRef: string | null;
  ref: string | null;
  topic: string;
  event: string;
  payload: Record<string, unknown>;
  /** For a binary broadcast: the frame that echoes it to its sender. */
  echo?: Buffer;
}

/** 1.0.0: JSON objects. 2.0.0: JSON arrays, and a binary format for broadcasts. */
export type ProtocolVersion = '1.0.0' | '2.0.0';

export function encode(version: ProtocolVersion, { payload, ...head }: Message): string {
  const { before, after } = envelopeOf(version, head);
  return before + JSON.stringify(payload) + after;
}

/** For messages with the same head whose payloads are already JSON, so that channels can share the payloads. */
function envelopeOf(version: ProtocolVersion, { joinRef, ref, topic, event }: Omit<Message, 'payload'>): Envelope {
  if (version === '2.0.0')
    return { before: `${JSON.stringify([joinRef, ref, topic, event]).slice(0, -1)},`, after: ']' };
  const object = JSON.stringify({ topic, event, ref, join_ref: joinRef }).slice(0, -1);
  return { before: `${object},"payload":`, after: '}' };
}

/** Undefined for an invalid frame. The protocol requires that such frames are dropped and the connection stays open. */
export function decode(version: ProtocolVersion, frame: Buffer, isBinary: boolean): Message | undefined {
  try {
    if (isBinary) return version === '2.0.0' ? decodeBroadcast(frame) : undefined;
    const parsed: unknown = JSON.parse(frame.toString('utf8'));
    return version === '2.0.0' ? fromArray(parsed) : fromObject(parsed);
  } catch {
    return undefined;
  }
}

function fromArray(parsed: unknown): Message | undefined {
  if (!Array.isArray(parsed) || parsed.length !== 5) return undefined;
  const [joinRef, ref, topic, event, payload] = parsed as unknown[];
  return message(joinRef, ref, topic, event, payload);
}

function fromObject(parsed: unknown): Message | undefined {
  if (!isObject(parsed)) return undefined;
  return message(parsed['join_ref'], parsed['ref'], parsed['topic'], parsed['event'], parsed['payload']);
}

function message(
  joinRef: unknown,
  ref: unknown,
  topic: unknown,
  event: unknown,
  payload: unknown,
): Message | undefined {
  if (typeof topic !== 'string' || typeof event !== 'string') return undefined;
  const given = isObject(payload) ? payload : {};
  const refs = { joinRef: asRef(joinRef), ref: asRef(ref) };
  const isTooLong = (text: string | null) => text !== null && text.length > MAX_REF_LENGTH;
  if (isTooLong(refs.joinRef) || isTooLong(refs.ref) || isDeeperThan(given, MAX_DEPTH)) return undefined;
  return { ...refs, topic, event, payload: given };
}

function isDeeperThan(value: object, levels: number): boolean {
  const isDeep = (inner: unknown) => typeof inner === 'object' && inner !== null && isDeeperThan(inner, levels - 1);
  return levels === 0 || Object.values(value).some(isDeep);
}

/** Some clients send numbers. */
function asRef(ref: unknown): string | null {
  return typeof ref === 'string' || typeof ref === 'number' ? String(ref) : null;
}

const BROADCAST_PUSH = 3;
const BROADCAST = 4;

/** `[3][five lengths][encoding]`, then join ref, ref, topic, event, metadata, body. The body is not read. */
function decodeBroadcast(frame: Buffer): Message | undefined {
  if (frame[0] !== BROADCAST_PUSH || frame.length < 7) return undefined;
  const lengths = [...frame.subarray(1, 6)];
  let offset = 7;
  const [joinRef = '', ref = '', topic = '', event = ''] = lengths.map((length) => {
    const text = frame.toString('utf8', offset, offset + length);
    offset += length;
    return text;
  });
  if (offset > frame.length) return undefined;
  const [ofJoinRef = 0, ofRef = 0, ...ofOthers] = lengths;
  return {
    joinRef: joinRef || null,
    ref: ref || null,
    topic,
    event: 'broadcast',
    payload: { type: 'broadcast', event },
    // `[4][three lengths][encoding]`, then everything but the refs.
    echo: Buffer.concat([
      Buffer.from([BROADCAST, ...ofOthers]),
      frame.subarray(6, 7),
      frame.subarray(7 + ofJoinRef + ofRef),
    ]),
  };
}

/** Writes the server's messages to one socket. */
export type ChannelMessages = ReturnType<typeof createChannelMessages>;

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

export function createChannelMessages({ socket, version, writeFrame, frameOf }: WireOptions) {
  const write = (frame: string | Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(frame);
  };
  const push = (message: Message) => write(encode(version, message));
  /** A client that does not read its replies is too slow, just like one that does not read changes. */
  const respond = (frame: string | Buffer) => {
    if (isTooFarBehind(socket)) endSocket(socket, 'slow', [WS_CLOSE.tryLater, 'Too slow']);
    write(frame);
  };
  const send = (message: Message) => respond(encode(version, message));
  return {
    send,
    /** Sends a client's own message back in its original format. */
    echo: (message: Message) => (message.echo ? respond(message.echo) : send({ ...message, ref: null })),
    reply: (
      { joinRef, ref, topic }: Pick<Message, 'joinRef' | 'ref' | 'topic'>,
      status: 'ok' | 'error',
      response: Record<string, unknown>,
    ) => send({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } }),
    system: ({ topic, joinRef }: ChannelAddress, payload: Record<string, unknown>): void =>
      push({ joinRef, ref: null, topic, event: 'system', payload: { ...payload, channel: nameOf(topic) } }),
    /** Ends the channel; clients do not rejoin by themselves. */
    closeChannel: ({ topic, joinRef }: ChannelAddress) =>
      push({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} }),
    /** Fails the channel; clients rejoin by themselves. */
    failChannel: ({ topic, joinRef }: ChannelAddress, payload: Record<string, unknown> = {}) =>
      push({ joinRef, ref: joinRef, topic, event: 'phx_error', payload }),
    /** Prepares the head of messages for `write`. */
    envelope: (head: Omit<Message, 'payload'>) => envelopeOf(version, head),
    /** Sends what is already JSON. Returns false and writes nothing if the client is too slow. */
    write: (envelope: Envelope, json: string | Buffer) => writeFrame(frameOf(envelope, json)),
    drained: (): Promise<void> => waitForDrain(socket),
  };
}

export function nameOf(topic: string): string {
  return topic.replace(/^realtime:/, '');
}

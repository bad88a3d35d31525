import type { WebSocket } from 'ws';
import { cut } from './socket.ts';

/** Memory of a piece of a message, in addition to its bytes. */
const PIECE_BYTES = 256;

interface Receiver {
  /** Of the current message; the next message has another array. */
  readonly _fragments: Buffer[];
  readonly _buffers: Buffer[];
}

/** What was added up last, by `_fragments`. All that arrives becomes the newest buffer, or is used up and leaves none. */
const added = new WeakMap<Buffer[], { pieces: number; newest: Buffer | undefined; bytes: number }>();

/**
 * The memory of what has arrived and is not processed: what a paused socket has not read, and a message that has arrived only in
 * part. ws buffers that without exposing its size: as views of the chunks that it arrived in, which also contained other frames.
 */
export function unfinishedBytes(socket: WebSocket): number {
  const { _receiver: receiver, _socket: stream } = socket as unknown as {
    _receiver: Receiver | null;
    _socket: { readableLength: number } | null;
  };
  return (stream?.readableLength ?? 0) + (receiver ? pieceBytes(receiver) : 0);
}

function pieceBytes({ _fragments: fragments, _buffers: buffers }: Receiver): number {
  const pieces = fragments.length + buffers.length;
  if (pieces === 0) return 0;
  const newest = buffers.at(-1);
  const known = added.get(fragments);
  if (known?.pieces === pieces && known.newest === newest) return known.bytes;
  let bytes = 0;
  let last: ArrayBufferLike | undefined;
  for (const list of [fragments, buffers])
    for (const { buffer: chunk } of list) {
      bytes += PIECE_BYTES + (chunk === last ? 0 : chunk.byteLength);
      last = chunk;
    }
  added.set(fragments, { pieces, newest, bytes });
  return bytes;
}

const RATE_WINDOW_MS = 10_000;
/** Ten of the largest messages by default, because the cost of a message grows with its length. */
const MAX_WINDOW_BYTES = 640 * 1024;

/**
 * The rate limit of one socket. Call the returned function for each message, with the length if that counts, too. It returns
 * false for more messages per second than allowed, averaged over ten seconds, or after 640 KiB within these seconds.
 */
export function createMessageRate(perSecond: number): (bytes?: number) => boolean {
  let windowStart = performance.now();
  let count = 0;
  let windowBytes = 0;
  return (bytes = 0) => {
    const now = performance.now();
    if (now - windowStart >= RATE_WINDOW_MS) {
      windowStart = now;
      [count, windowBytes] = [0, 0];
    }
    const isWithin = ++count <= perSecond * (RATE_WINDOW_MS / 1_000) && windowBytes < MAX_WINDOW_BYTES;
    windowBytes += bytes;
    return isWithin;
  };
}

/** The ratio of allowed frames of any kind to allowed messages. */
const MAX_FRAMES_PER_MESSAGE = 10;

/** Terminates a socket that sends too many frames, even while it is closing: pongs cost as much as messages. */
export function cutFloods(socket: WebSocket, messagesPerSecond: number): void {
  const isWithinRate = createMessageRate(MAX_FRAMES_PER_MESSAGE * messagesPerSecond);
  const note = () => {
    if (!isWithinRate()) cut(socket, 'message_rate');
  };
  for (const frame of ['message', 'ping', 'pong']) socket.on(frame, note);
}

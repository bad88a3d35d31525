import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Heartbeats } from './heartbeats.ts';

/** Why a socket ended. */
export type EndReason =
  /** The client closed it, or its network failed. */
  | 'client'
  | 'lost'
  /** The client exceeded a limit, read or sent too slowly, or sent something invalid. */
  | 'slow'
  | 'connection_limit'
  | 'message_rate'
  | 'bad_message'
  | 'silent'
  /** The token is missing or invalid, or its session has ended. */
  | 'unauthorized'
  | 'session_ended'
  /** The server stops, or the socket is old enough: the client comes back, perhaps elsewhere. */
  | 'restart'
  | 'max_age'
  /** What is needed to serve the client is not available. */
  | 'unavailable'
  | 'error';

/** Close codes of the realtime protocols. After the last two, clients reconnect. */
export const WS_CLOSE = { unauthorized: 4401, forbidden: 4403, restart: 1012, tryLater: 1013 } as const;
/** How sockets are closed whose clients are to come back at once, here or at another gateway. */
export const SERVICE_RESTART: [code: number, text: string] = [WS_CLOSE.restart, 'Service restart'];

/** How much may wait for a slow reader: a few thousand changes. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How much may be written before the client could read any of it, such as a change for each of its subscriptions. */
const MAX_BURST_BYTES = 4 * 1024 * 1024;
/** How many bytes of results may wait before no further one is sent: a few of the largest results. */
const MAX_WAITING_RESULT_BYTES = 16 * 1024 * 1024;
/** A replay resumes below this. */
const LOW_WATER_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 20;
/** How long a socket that is to be closed waits for its pending results. */
const RESULTS_MS = 1_000;
/** Without a hurry: longer than any operation takes, except those that move whole databases. */
export const ALL_RESULTS_MS = 12_000;

const reasons = new WeakMap<WebSocket, EndReason>();

/** The first reason counts. */
function noteReason(socket: WebSocket, reason: EndReason): void {
  if (!reasons.has(socket)) reasons.set(socket, reason);
}

export function endSocket(socket: WebSocket, reason: EndReason, [code, text]: [code: number, text: string]): void {
  noteReason(socket, reason);
  socket.close(code, text);
}

const owed = new WeakMap<WebSocket, Set<Promise<void>>>();
const leaving = new WeakSet<WebSocket>();

/** Registers work that sends a result to the client and never rejects; `leaveSocket` waits for it. */
export function oweResult(socket: WebSocket, work: Promise<void>): void {
  const works = owed.get(socket) ?? new Set();
  owed.set(socket, works.add(work));
  void work.then(() => works.delete(work));
}

const farewells = new WeakMap<WebSocket, (why: string) => void>();

/** What is still to be said when the socket is closed gracefully, right before its close frame. */
export function setFarewell(socket: WebSocket, say: (why: string) => void): void {
  farewells.set(socket, say);
}

/**
 * Closes a socket once its pending results are sent or time is up; meanwhile it takes no more messages but pings. Reconnecting
 * clients repeat what was not answered, so without the wait a mutation would run twice.
 */
export function closeGracefully(
  socket: WebSocket,
  reason: EndReason,
  close: [code: number, text: string],
  withinMs = RESULTS_MS,
): void {
  leaving.add(socket);
  const sent = Promise.all(owed.get(socket) ?? []);
  void Promise.race([sent, delay(withinMs, undefined, { ref: false })]).then(() => {
    farewells.get(socket)?.(close[1]);
    endSocket(socket, reason, close);
  });
}

/** Closes a socket that is old enough, as a gateway that stops does, but without its hurry. */
export function retire(socket: WebSocket): void {
  closeGracefully(socket, 'max_age', SERVICE_RESTART, ALL_RESULTS_MS);
}

export function isLeaving(socket: WebSocket): boolean {
  return leaving.has(socket);
}

/** What a server does with unexpected errors. */
export interface ErrorPolicy {
  /** Whether the error passes: a server that has just started may not be able to verify tokens yet. */
  isTemporary?(error: unknown): boolean;
  log?: { error(fields: object, message: string): void };
}

/**
 * Closes a socket whose message failed. After a temporary error, the client is asked to come back, and nothing is logged.
 * `defect` is the protocol's close for any other error.
 */
export function failSocket(
  socket: WebSocket,
  error: unknown,
  { isTemporary, log }: ErrorPolicy,
  defect: [code: number, text: string],
  end = (close: [code: number, text: string]) => endSocket(socket, 'error', close),
): void {
  if (socket.readyState !== socket.OPEN) return; // nothing can be sent any more
  if (isTemporary?.(error)) return end([WS_CLOSE.tryLater, 'The service is not available right now']);
  log?.error({ err: error }, 'a message of a socket failed');
  end(defect);
}

/** `code` is that of the close event. */
export function endReasonOf(socket: WebSocket, code: number): EndReason {
  return reasons.get(socket) ?? (code === NOT_SAID ? 'lost' : 'client');
}

/** The close code when no close frame was received. */
const NOT_SAID = 1006;

const results = new WeakMap<WebSocket, number>();

/**
 * Sends a result that the client asked for. A single result may exceed all that may wait, and takes a while to send
 * however fast the client reads. So results do not count as falling behind, unless too many of them wait.
 */
export function sendResult(socket: WebSocket, text: string | Buffer): void {
  const frame = typeof text === 'string' ? Buffer.from(text) : text;
  results.set(socket, waitingResults(socket) + frame.length);
  socket.send(frame, { binary: false }, () => results.set(socket, waitingResults(socket) - frame.length));
}

export function hasTooManyResults(socket: WebSocket): boolean {
  return waitingResults(socket) > MAX_WAITING_RESULT_BYTES;
}

const waitingResults = (socket: WebSocket): number => results.get(socket) ?? 0;

/** Sockets that have just been written more than may wait. */
const bursts = new WeakSet<WebSocket>();

function noteBurst(socket: WebSocket): void {
  if (bursts.has(socket) || !hasWaiting(socket, MAX_WAITING_BYTES)) return;
  bursts.add(socket);
  // Between the two, the system takes what its buffers can hold.
  setImmediate(() => setImmediate(() => bursts.delete(socket)));
}

export function isTooFarBehind(socket: WebSocket): boolean {
  return hasWaiting(socket, MAX_WAITING_BYTES) && (!bursts.has(socket) || hasWaiting(socket, MAX_BURST_BYTES));
}

/** Whether more than this waits, besides results. */
function hasWaiting(socket: WebSocket, bytes: number): boolean {
  const waiting = socket.bufferedAmount;
  return waiting > bytes && waiting - waitingResults(socket) > bytes;
}

/** Writes whole frames to the connection of a socket. Returns false, and writes nothing, when the client is too far behind. */
export type WriteFrame = (frame: Buffer) => boolean;

/** Frames keep their order among the library's own, which it writes to the connection at once, too. */
export function frameWriter(socket: WebSocket, connection: Connection): WriteFrame {
  return (frame) => {
    if (isTooFarBehind(socket)) return false;
    if (socket.readyState !== socket.OPEN) return true;
    writeShared(connection, frame);
    noteBurst(socket);
    return true;
  };
}

/** What has arrived of a message whose rest has not. ws keeps it, and does not say how much it is. */
export function unfinishedBytes(socket: WebSocket): number {
  const { _receiver: receiver } = socket as unknown as {
    _receiver: { _bufferedBytes: number; _messageLength: number } | null;
  };
  return receiver ? receiver._bufferedBytes + receiver._messageLength : 0;
}

/** Terminates the socket of a slow reader, as a close frame would wait behind everything else. */
export function cutSlow(socket: WebSocket): void {
  noteReason(socket, 'slow');
  socket.terminate();
}

export async function waitForDrain(socket: WebSocket): Promise<void> {
  while (socket.bufferedAmount > LOW_WATER_BYTES && socket.readyState === socket.OPEN)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}

/**
 * Pings the client at each heartbeat, and ends a connection that until the next one neither answered nor read anything: a ping waits
 * behind a large result.
 */
export function keepAlive(socket: WebSocket, heartbeats: Heartbeats): void {
  let isAlive = true;
  let waitingBytes = 0;
  socket.on('pong', () => {
    isAlive = true;
  });
  const stop = heartbeats.add(() => {
    const isReading = socket.bufferedAmount < waitingBytes;
    waitingBytes = socket.bufferedAmount;
    if (!isAlive && !isReading) return socket.terminate();
    if (isAlive) socket.ping();
    isAlive = false;
  });
  socket.once('close', stop);
}

/** What stands before and behind the JSON of a message. */
export interface Envelope {
  readonly before: string;
  readonly after: string;
}

/** Builds the frame of a text message, in one piece: `ws` writes its head and its text separately. */
export type FrameOf = (envelope: Envelope, json: string) => Buffer;

/**
 * Equal subscriptions get an event right after each other: its JSON is encoded once for all of them, and those whose
 * envelopes are equal, too, share the frame.
 */
export function createFrames(): FrameOf {
  let encoded: { json: string; bytes: Buffer } | undefined;
  let last: { envelope: Envelope; frame: Buffer } | undefined;
  return (envelope, json) => {
    if (encoded?.json !== json) {
      encoded = { json, bytes: Buffer.from(json) };
      last = undefined;
    }
    if (!last || !isEqual(last.envelope, envelope)) last = { envelope, frame: textFrame(envelope, encoded.bytes) };
    return last.frame;
  };
}

function isEqual(one: Envelope, other: Envelope): boolean {
  return one === other || (one.before === other.before && one.after === other.after);
}

/** A text message that is one frame, without an extension: https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
const WHOLE_TEXT = 0x81;
/** Longer lengths follow in two or eight bytes of their own, which these marks announce. */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

function textFrame({ before, after }: Envelope, json: Buffer): Buffer {
  const beforeSize = Buffer.byteLength(before);
  const size = beforeSize + json.length + Buffer.byteLength(after);
  const headSize = size < IN_TWO_BYTES ? 2 : size < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headSize + size);
  frame[0] = WHOLE_TEXT;
  if (headSize === 2) frame[1] = size;
  else if (headSize === 4) {
    frame[1] = IN_TWO_BYTES;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = IN_EIGHT_BYTES;
    frame.writeBigUInt64BE(BigInt(size), 2);
  }
  frame.write(before, headSize);
  json.copy(frame, headSize + beforeSize);
  frame.write(after, headSize + beforeSize + json.length);
  return frame;
}

/** Where bytes go past the library that speaks the protocol. */
export type Connection = Pick<Writable, 'write' | 'writableLength'>;

/** Writes bytes that others may be sent, too, or that lie in the pool of small buffers beside those of others. */
export function writeShared(connection: Connection, bytes: Buffer): void {
  // What has to wait for its reader keeps no more memory than it is counted for.
  connection.write(connection.writableLength > 0 ? copyOf(bytes) : bytes);
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

const RATE_WINDOW_MS = 10_000;
/** Ten of the largest messages by default: what they cost grows with their length. */
const MAX_WINDOW_BYTES = 640 * 1024;

/**
 * For one socket: call it for each message, with its length if that counts as well. False when there are more than so
 * many a second, averaged over ten seconds, or when those before it in these seconds had 640 KiB.
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

/** How many frames of any kind a socket may send for each message that it may. */
const MAX_FRAMES_PER_MESSAGE = 10;

/** Terminates a socket that sends too many frames, even while it is closing: pongs cost as much as messages. */
export function cutFloods(socket: WebSocket, messagesPerSecond: number): void {
  const isWithinRate = createMessageRate(MAX_FRAMES_PER_MESSAGE * messagesPerSecond);
  const note = () => {
    if (isWithinRate()) return;
    noteReason(socket, 'message_rate');
    socket.terminate();
  };
  for (const frame of ['message', 'ping', 'pong']) socket.on(frame, note);
}

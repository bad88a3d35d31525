import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket, WebSocketServer } from 'ws';

/** Why a socket ended. */
export type EndReason =
  /** The client closed the socket, or its network failed. */
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
  /** The server is stopping, or the socket has reached its maximum age. The client reconnects, perhaps to another gateway. */
  | 'restart'
  | 'max_age'
  /** A dependency of the server is not available. */
  | 'unavailable'
  | 'error';

/** Close codes of the realtime protocols. Clients reconnect after the last two. */
export const WS_CLOSE = { unauthorized: 4401, forbidden: 4403, restart: 1012, tryLater: 1013 } as const;
/** The close code and reason for clients that should reconnect at once, to this or another gateway. */
export const SERVICE_RESTART: [code: number, text: string] = [WS_CLOSE.restart, 'Service restart'];

/** How much may be buffered for a slow reader: a few thousand changes. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** How much may be written at once, before the client can read any of it, such as a change for each of its subscriptions. */
const MAX_BURST_BYTES = 4 * 1024 * 1024;
/** How many bytes of results may be buffered before no further result is sent: a few of the largest results. */
const MAX_BUFFERED_RESULT_BYTES = 16 * 1024 * 1024;
/** A replay resumes below this. */
const LOW_WATER_BYTES = 64 * 1024;
const POLL_MS = 20;
/** How long a graceful close waits for pending results. */
const RESULTS_MS = 1_000;
/** The same without urgency: longer than any operation takes, except those that copy whole databases. */
export const ALL_RESULTS_MS = 12_000;

const reasons = new WeakMap<WebSocket, EndReason>();

/** Records why a socket ended. Only the first reason counts. */
function noteReason(socket: WebSocket, reason: EndReason): void {
  if (!reasons.has(socket)) reasons.set(socket, reason);
}

/** Terminates a socket at once: a close frame would wait behind all buffered data. */
export function cut(socket: WebSocket, reason: EndReason): void {
  noteReason(socket, reason);
  socket.terminate();
}

export function endSocket(socket: WebSocket, reason: EndReason, [code, text]: [code: number, text: string]): void {
  noteReason(socket, reason);
  socket.close(code, text);
}

const pendingResults = new WeakMap<WebSocket, Set<Promise<void>>>();
const leaving = new WeakSet<WebSocket>();

/** Registers work that sends a result to the client and never rejects; `leaveSocket` waits for it. */
export function oweResult(socket: WebSocket, work: Promise<void>): void {
  const works = pendingResults.get(socket) ?? new Set();
  pendingResults.set(socket, works.add(work));
  void work.then(() => works.delete(work));
}

const beforeCloses = new WeakMap<WebSocket, (why: string) => void>();

/** Sets a function that sends the last messages of a graceful close, right before the close frame. */
export function setBeforeClose(socket: WebSocket, beforeClose: (why: string) => void): void {
  beforeCloses.set(socket, beforeClose);
}

/**
 * Closes a socket once its pending results are sent or time is up. Meanwhile, it accepts no messages but pings. Without the wait,
 * a mutation could run twice, because reconnecting clients repeat operations that have no response.
 */
export function closeGracefully(
  socket: WebSocket,
  reason: EndReason,
  close: [code: number, text: string],
  withinMs = RESULTS_MS,
): void {
  leaving.add(socket);
  const sent = Promise.all(pendingResults.get(socket) ?? []);
  void Promise.race([sent, delay(withinMs, undefined, { ref: false })]).then(() => {
    beforeCloses.get(socket)?.(close[1]);
    endSocket(socket, reason, close);
  });
}

/** Closes a socket that has reached its maximum age. Like the close of a stopping gateway, but with a longer wait. */
export function retire(socket: WebSocket): void {
  closeGracefully(socket, 'max_age', SERVICE_RESTART, ALL_RESULTS_MS);
}

export interface CloseAllOptions {
  /** Closing is spread over this time, so that clients do not all reconnect to the other servers at once. @default 1_000 */
  spreadMs?: number;
  /** How long each socket may then take before it is terminated. Keep it above the second that results have. @default 2_000 */
  goodbyeMs?: number;
  /** From 0 to 1. @default Math.random */
  random?: () => number;
}

/**
 * Closes all sockets of a stopping server as `closeGracefully` does, waits until they have disconnected, and closes the server. Refuse
 * new sockets first: those that connect meanwhile are not closed.
 */
export async function closeAllGracefully(
  server: Pick<WebSocketServer, 'clients' | 'close'>,
  { spreadMs = 1_000, goodbyeMs = 2_000, random = Math.random }: CloseAllOptions = {},
): Promise<void> {
  const clients = [...server.clients];
  await Promise.all(
    clients.map(
      (socket) =>
        new Promise<void>((resolve) => {
          if (socket.readyState === socket.CLOSED) return resolve();
          socket.once('close', () => resolve());
          const delayMs = clients.length > 1 ? random() * spreadMs : 0;
          setTimeout(() => closeGracefully(socket, 'restart', SERVICE_RESTART), delayMs);
          setTimeout(() => socket.terminate(), delayMs + goodbyeMs).unref();
        }),
    ),
  );
  server.close();
}

export function isLeaving(socket: WebSocket): boolean {
  return leaving.has(socket);
}

/** How a server handles unexpected errors. */
export interface ErrorPolicy {
  /** Whether the error is temporary: a server that has just started may not be able to verify tokens yet. */
  isTemporary?(error: unknown): boolean;
  log?: { error(fields: object, message: string): void };
}

/**
 * Closes a socket whose message failed. After a temporary error, the client is asked to reconnect, and nothing is logged.
 * `defect` is the close code and reason for all other errors.
 */
export function failSocket(
  socket: WebSocket,
  error: unknown,
  { isTemporary, log }: ErrorPolicy,
  defect: [code: number, text: string],
  end = (close: [code: number, text: string]) => endSocket(socket, 'error', close),
): void {
  if (socket.readyState !== socket.OPEN) return; // nothing can be sent
  if (isTemporary?.(error)) return end([WS_CLOSE.tryLater, 'The service is not available right now']);
  log?.error({ err: error }, 'a message of a socket failed');
  end(defect);
}

/** `code` is the code of the close event. */
export function endReasonOf(socket: WebSocket, code: number): EndReason {
  return reasons.get(socket) ?? (code === NO_CLOSE_FRAME ? 'lost' : 'client');
}

/** The close code when no close frame was received. */
const NO_CLOSE_FRAME = 1006;

const results = new WeakMap<WebSocket, number>();

/**
 * Sends a result that the client requested. A single result may exceed the limit for buffered data, and takes a while to send
 * even if the client reads fast. So results do not make a client too slow, unless too many of them are buffered.
 */
export function sendResult(socket: WebSocket, text: string | Buffer): void {
  const frame = typeof text === 'string' ? Buffer.from(text) : text;
  results.set(socket, bufferedResults(socket) + frame.length);
  socket.send(frame, { binary: false }, () => results.set(socket, bufferedResults(socket) - frame.length));
}

export function hasTooManyResults(socket: WebSocket): boolean {
  return bufferedResults(socket) > MAX_BUFFERED_RESULT_BYTES;
}

const bufferedResults = (socket: WebSocket): number => results.get(socket) ?? 0;

/** Sockets to which more than the limit has just been written. */
const bursts = new WeakSet<WebSocket>();

function noteBurst(socket: WebSocket): void {
  if (bursts.has(socket) || !hasBuffered(socket, MAX_BUFFERED_BYTES)) return;
  bursts.add(socket);
  // Between the two, the system accepts as much as its buffers can hold.
  setImmediate(() => setImmediate(() => bursts.delete(socket)));
}

export function isTooFarBehind(socket: WebSocket): boolean {
  return hasBuffered(socket, MAX_BUFFERED_BYTES) && (!bursts.has(socket) || hasBuffered(socket, MAX_BURST_BYTES));
}

/** Whether more than this is buffered, apart from results. */
function hasBuffered(socket: WebSocket, bytes: number): boolean {
  const waiting = socket.bufferedAmount;
  return waiting > bytes && waiting - bufferedResults(socket) > bytes;
}

/** Writes whole frames to the connection of a socket. Returns false and writes nothing if the client is too slow. */
export type WriteFrame = (frame: Buffer) => boolean;

/** Frames stay in order with those of `ws`, because it also writes to the connection at once. */
export function frameWriter(socket: WebSocket, connection: Connection): WriteFrame {
  return (frame) => {
    if (isTooFarBehind(socket)) return false;
    if (socket.readyState !== socket.OPEN) return true;
    writeShared(connection, frame);
    noteBurst(socket);
    return true;
  };
}

/** Of sockets for which replays wait. */
const drains = new WeakMap<WebSocket, Promise<void>>();

export async function waitForDrain(socket: WebSocket): Promise<void> {
  while (isDraining(socket)) {
    const drain = drains.get(socket) ?? pollUntilDrained(socket).then(() => void drains.delete(socket));
    drains.set(socket, drain);
    await drain;
    await new Promise((resolve) => setImmediate(resolve)); // what one writes now, the next one sees
  }
}

const isDraining = (socket: WebSocket) => socket.bufferedAmount > LOW_WATER_BYTES && socket.readyState === socket.OPEN;

async function pollUntilDrained(socket: WebSocket): Promise<void> {
  while (isDraining(socket)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** The text before and after the JSON of a message. */
export interface Envelope {
  readonly before: string;
  readonly after: string;
}

/** Builds the frame of a text message in one buffer. `ws` would write head and text separately. */
export type FrameOf = (envelope: Envelope, json: string | Buffer) => Buffer;

/**
 * Equal subscriptions receive an event in a row, so its JSON is encoded once for all of them. Subscriptions with equal
 * envelopes also share the frame.
 */
export function createFrames(): FrameOf {
  let encoded: { json: string | Buffer; bytes: Buffer } | undefined;
  let last: { envelope: Envelope; frame: Buffer } | undefined;
  return (envelope, json) => {
    if (encoded?.json !== json) {
      encoded = { json, bytes: typeof json === 'string' ? Buffer.from(json) : json };
      last = undefined;
    }
    if (!last || !isEqual(last.envelope, envelope)) last = { envelope, frame: textFrame(envelope, encoded.bytes) };
    return last.frame;
  };
}

function isEqual(one: Envelope, other: Envelope): boolean {
  return one === other || (one.before === other.before && one.after === other.after);
}

/** A text message in a single frame, without extensions: https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
const WHOLE_TEXT = 0x81;
/** Markers for longer lengths, which follow in two or eight bytes. */
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

/** The connection underlying a socket, for writes that bypass `ws`. */
export type Connection = Pick<Writable, 'write' | 'writableLength'>;

/** Writes a buffer that other sockets may share, or that lies in Node's pool of small buffers. */
export function writeShared(connection: Connection, bytes: Buffer): void {
  // Bytes that have to wait are copied, so that they retain no more memory than is accounted for.
  connection.write(connection.writableLength > 0 ? copyOf(bytes) : bytes);
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

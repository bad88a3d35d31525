import { AppError } from '@taskmesh/contracts';
import type { Log } from '@taskmesh/service';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Heartbeats } from '../heartbeats.ts';
import type { EndReason } from '../metrics.ts';
import { writeShared, type Connection } from '../write-shared.ts';
import type { QueuedReader } from './send-buffer-budget.ts';

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
  const told = Promise.all(owed.get(socket) ?? []);
  void Promise.race([told, delay(withinMs, undefined, { ref: false })]).then(() => {
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

/**
 * Closes a socket whose message failed. If a service is unavailable (a gateway that has just started may not be able to
 * check tokens yet), the client is asked to come back, and nothing is logged. `defect` is the protocol's close for any
 * other error.
 */
export function failSocket(
  socket: WebSocket,
  error: unknown,
  log: Log,
  defect: [code: number, text: string],
  end = (close: [code: number, text: string]) => endSocket(socket, 'error', close),
): void {
  if (socket.readyState !== socket.OPEN) return; // the socket is gone, so nothing can be sent
  if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')
    return end([WS_CLOSE.tryLater, 'The service is not available right now']);
  log.error({ err: error }, 'a message of a socket failed');
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
export function sendResult(socket: WebSocket, text: string): void {
  const frame = Buffer.from(text);
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

/** For `createSendBufferBudget`. Terminates the socket, as a close frame would wait behind everything else. */
export function socketReader(socket: WebSocket): QueuedReader {
  return {
    waitingBytes: socket.bufferedAmount,
    cut() {
      noteReason(socket, 'slow');
      socket.terminate();
    },
  };
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

import { AppError } from '@taskmesh/errors';
import type { Log } from '@taskmesh/service';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { EndReason } from '../metrics.ts';
import type { QueuedReader } from './queue-budget.ts';

/** Close codes that the feed's protocols use; the last two make a client come back. */
export const WS_CLOSE = { unauthorized: 4401, forbidden: 4403, restart: 1012, tryLater: 1013 } as const;

/** How much may wait for a client that reads slowly: a few thousand changes. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** When more of its results wait, a client gets no other one: a few of the largest. */
const MAX_WAITING_RESULT_BYTES = 16 * 1024 * 1024;
/** A replay goes on when no more than this waits. */
const LOW_WATER_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 20;
/** How long a socket that has to go waits for results that its client waits for. */
const RESULTS_MS = 1_000;
/** How often a silent connection is asked whether it still lives. */
const PING_EVERY_MS = 12_000;

const reasons = new WeakMap<WebSocket, EndReason>();

/** The first one counts. */
function noteReason(socket: WebSocket, reason: EndReason): void {
  if (!reasons.has(socket)) reasons.set(socket, reason);
}

/** Closes a socket for a reason of ours. */
export function endSocket(socket: WebSocket, reason: EndReason, [code, text]: [code: number, text: string]): void {
  noteReason(socket, reason);
  socket.close(code, text);
}

const owed = new WeakMap<WebSocket, Set<Promise<void>>>();
const leaving = new WeakSet<WebSocket>();

/** `work` ends with a result for the socket's client, and never rejects: `leaveSocket` waits for it. */
export function oweResult(socket: WebSocket, work: Promise<void>): void {
  const works = owed.get(socket) ?? new Set();
  owed.set(socket, works.add(work));
  void work.then(() => works.delete(work));
}

/**
 * Closes a socket when the results that are being made are told, or take too long; it takes no more messages meanwhile.
 * Clients that come back ask again for what had no answer, and a mutation would run twice.
 */
export function leaveSocket(
  socket: WebSocket,
  reason: EndReason,
  close: [code: number, text: string],
  withinMs = RESULTS_MS,
): void {
  leaving.add(socket);
  const told = Promise.all(owed.get(socket) ?? []);
  void Promise.race([told, delay(withinMs, undefined, { ref: false })]).then(() => endSocket(socket, reason, close));
}

export function isLeaving(socket: WebSocket): boolean {
  return leaving.has(socket);
}

/**
 * Closes a socket whose message failed. A gateway that has just started may not be able to check tokens yet: the client is
 * told to come back, and no defect. `defect` is the protocol's own close for everything else.
 */
export function failSocket(
  socket: WebSocket,
  error: unknown,
  log: Log,
  defect: [code: number, text: string],
  end = (close: [code: number, text: string]) => endSocket(socket, 'error', close),
): void {
  if (socket.readyState !== socket.OPEN) return; // an answer that a lost socket did not take
  if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')
    return end([WS_CLOSE.tryLater, 'The service is not available right now']);
  log.error({ err: error }, 'a message of a socket failed');
  end(defect);
}

/** Why a socket is closed by now; `code` is that of its close event. */
export function endReasonOf(socket: WebSocket, code: number): EndReason {
  return reasons.get(socket) ?? (code === NOT_SAID ? 'lost' : 'client');
}

/** The code of a socket that was cut. */
const NOT_SAID = 1006;

const results = new WeakMap<WebSocket, number>();

/**
 * Sends a result that the client asked for. One may be larger than all that may wait, and is on its way for a moment however
 * fast it is read: the client has fallen behind only by what waits besides, or when too many of them wait.
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

export function isTooFarBehind(socket: WebSocket): boolean {
  return socket.bufferedAmount - waitingResults(socket) > MAX_WAITING_BYTES;
}

/** For `createQueueBudget`. A goodbye would wait behind all the rest. */
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

/** Ends a connection that does not answer any more. */
export function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
}

import type { WebSocket } from 'ws';

/** Close codes that the feed's protocols use; the last two make a client come back. */
export const WS_CLOSE = { unauthorized: 4401, forbidden: 4403, restart: 1012, tryLater: 1013 } as const;

/** How much may wait for a client that reads slowly: a few thousand changes. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** A replay goes on when no more than this waits. */
const LOW_WATER_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 20;
/** How often a silent connection is asked whether it still lives. */
const PING_EVERY_MS = 12_000;

export function isTooFarBehind(socket: WebSocket): boolean {
  return socket.bufferedAmount > MAX_WAITING_BYTES;
}

export async function drainedSocket(socket: WebSocket): Promise<void> {
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

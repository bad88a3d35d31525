import { receiveBody } from '@taskmesh/internal-api';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { sendContinue } from './expect-continue.ts';

/** A body that takes long is fine, one that stands still is not. */
const SILENCE_MS = 30_000;
/** A client whose body is not wanted has this long to read why. */
const LINGER_MS = 5_000;

const exempt = new WeakSet<Socket>();

/** Whether the time for a whole request does not count on this connection at the moment. */
export const mayTakeLong = (socket: Socket): boolean => exempt.has(socket);

/**
 * The body of a request as a stream of any length: the limit on the time of a request does not count, one on silence does.
 * Destroying it refuses what is still to come.
 */
export function longBodyOf(request: IncomingMessage, { silenceMs = SILENCE_MS } = {}): Readable {
  const { socket } = request;
  exempt.add(socket);
  sendContinue(request);
  const body = receiveBody(request, { silenceMs });
  body.once('close', () => {
    const forget = () => exempt.delete(socket);
    if (request.complete || socket.destroyed) return forget();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('close', () => clearTimeout(cut));
    forget();
  });
  return body;
}

import { receiveBody } from '@taskmesh/internal-api';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { sendContinue } from './expect-continue.ts';

/** A body may take long, but must not stall. */
const SILENCE_MS = 30_000;

const exempt = new WeakSet<Socket>();

/** Whether this connection is currently exempt from the request timeout. */
export const mayTakeLong = (socket: Socket): boolean => exempt.has(socket);

/**
 * A request's body as a stream of any length: exempt from the request timeout, but limited in silence. Destroying the
 * stream refuses the rest.
 */
export function longBodyOf(request: IncomingMessage, { silenceMs = SILENCE_MS } = {}): Readable {
  const { socket } = request;
  exempt.add(socket);
  sendContinue(request);
  const body = receiveBody(request, { silenceMs });
  body.once('close', () => exempt.delete(socket));
  return body;
}

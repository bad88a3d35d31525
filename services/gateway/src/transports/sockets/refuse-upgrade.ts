import type { AppError } from '@taskmesh/contracts';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorText, JSON_TYPE } from '../../http/errors.ts';

/** How long a client may take to read the answer. */
const LINGER_MS = 2_000;

const HEADER_OF: Record<number, string[]> = { 401: ['WWW-Authenticate: Bearer'], 503: ['Retry-After: 1'] };

/** Answers an upgrade with an HTTP error and closes the connection, which Node's server no longer controls. */
export function refuseUpgrade(socket: Duplex, error: AppError): void {
  const requestId = randomUUID();
  const body = errorText(error, requestId);
  const head = [
    `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Sec-WebSocket-Version: 13',
    ...(HEADER_OF[error.httpStatus] ?? []),
    'Connection: close',
  ];
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.resume(); // closing with unread bytes would send a reset, and the client would lose the answer
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

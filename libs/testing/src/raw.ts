import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { closed } from './addresses.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';

/** The headers of a WebSocket's handshake. */
export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The bytes of a request. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return `${[`${line} HTTP/1.1`, 'Host: x', ...headers, ...length].join('\r\n')}\r\n\r\n${body}`;
}

export const rawGraphQL = (body: unknown, ...headers: string[]): string =>
  rawRequest('POST /graphql', ['Content-Type: application/json', ...headers], JSON.stringify(body));

export interface RawSocket extends Socket {
  /** Everything received. */
  response: string;
}

/** Opens a connection and sends bytes verbatim. The connection is destroyed at the end of the test or file. */
export async function openRaw(
  origin: string,
  bytes: string | Buffer = '',
  { allowHalfOpen = false } = {},
): Promise<RawSocket> {
  const options = { port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen };
  const socket = Object.assign(connect(options), { response: '' });
  socket.on('error', () => undefined).on('data', (chunk) => (socket.response += String(chunk)));
  atEnd(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** The status of the first response, once its head has arrived. */
export async function statusOf(socket: RawSocket): Promise<number> {
  await eventually(() => socket.response.includes('\r\n'));
  return Number(socket.response.split(' ')[1]);
}

/** Sends bytes verbatim, and returns everything received until the connection closes. */
export async function rawResponse(origin: string, bytes: string | Buffer): Promise<string> {
  const socket = await openRaw(origin, bytes);
  await closed(socket);
  return socket.response;
}

export type RawAnswer = ReturnType<typeof answerOf>;

/** The status is NaN if the connection was closed without a response; `continued`: the server requested the body with `100 Continue`. */
export function answerOf(received: string) {
  const text = received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), continued: text !== received, text };
}

/** Sends bytes verbatim, and returns the response, after which the server has to close the connection. */
export const exchange = async (origin: string, bytes: string | Buffer): Promise<RawAnswer> =>
  answerOf(await rawResponse(origin, bytes));

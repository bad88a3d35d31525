import { connect } from 'node:net';

/** A response as received over the wire. */
export interface RawAnswer {
  /** NaN if the connection was closed without a response. */
  status: number;
  /** Whether the server requested the body with `100 Continue`. */
  continued: boolean;
  text: string;
}

const HANG_MS = 5_000;

/** Writes raw bytes to a new connection, and reads until the server closes it. */
export function exchange(origin: string, bytes: Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(HANG_MS, () => socket.destroy(new Error('The server neither answered nor closed.')));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses early may close the connection while the rest is still being written.
    socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on('close', () => {
      const whole = Buffer.concat(chunks).toString();
      const text = whole.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), continued: text !== whole, text });
    });
  });
}

/** Returns the bytes of a request with `Connection: close`, which ends the exchange. */
export function rawRequest(line: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'Connection: close', ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

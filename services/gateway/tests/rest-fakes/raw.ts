import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  /** The server asked for the body announced by `Expect: 100-continue`. */
  continued: boolean;
  head: string;
  body: string;
}

const CRLF = '\r\n';

/** A request as text, with `Host` and `Connection: close` added. */
export function rawRequest(line: string, headers: readonly string[] = [], body: string | Buffer = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join(CRLF);
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

/** Writes bytes to a new socket and reads until the server closes it. */
export function exchange(origin: string, bytes: Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses early may close while we are still writing.
    socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on('close', () => resolve(parsed(Buffer.concat(chunks).toString())));
  });
}

function parsed(text: string): RawAnswer {
  const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [head = '', ...rest] = final.split(CRLF + CRLF);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  return { status, continued: final !== text, head, body: rest.join(CRLF + CRLF) };
}

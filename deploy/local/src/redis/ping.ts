import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const TIMEOUT_MS = 3_000;

/** Whether a Redis (or Valkey) answers at this `redis://` or `rediss://` URL, with the URL's password if it has one. */
export async function pingRedis(url: string): Promise<boolean> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  const socket = protocol === 'rediss:' ? connectTls({ ...address, servername: address.host }) : connect(address);
  const credentials = [username, password].map(decodeURIComponent).filter((part) => part !== '');
  const commands = credentials.length > 0 ? [['AUTH', ...credentials], ['PING']] : [['PING']];
  const answer = await exchange(socket, commands.map(encode).join(''));
  return answer.endsWith('+PONG\r\n');
}

function encode(words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Sends the request and waits for a last line that is PONG or an error. */
function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let answer = '';
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('connection closed')));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (/(^|\n)(\+PONG|-[^\r]*)\r\n$/.test(answer)) resolve(answer);
    });
    socket.write(request);
  }).finally(() => socket.destroy());
}

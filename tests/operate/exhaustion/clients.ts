import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

/** Who sends. A stranger has no token; `address` is one of the loopback interface, from which all connections come. */
export type Sender = Record<'url' | 'address', string> & Partial<Record<'email' | 'token' | 'taskId', string>>;
export type Client = ReturnType<typeof createClient>;
type Frames = { next?: () => unknown; everyMs?: number; reads?: boolean; proof?: RegExp };
let turns = 0;

/** Every method resolves with what became of it: a status and code, or `open` until `close` ended it. */
export function createClient(sender: Sender) {
  const { url, address: localAddress, token } = sender;
  const agent = new Agent({ keepAlive: true, localAddress, maxSockets: Infinity });
  const ends = new Set<() => void>([() => agent.destroy()]);
  let isOver = false;
  /** Waits for the end of a connection. */
  const hold = (socket: Socket | WebSocket, outcomeOf: (code: unknown) => string) =>
    new Promise<string>((resolve) => {
      const end = () => ('terminate' in socket ? socket.terminate() : socket.destroy());
      ends.add(end);
      socket.on('error', () => undefined); // `close` follows
      socket.once('close', (code: unknown) => {
        ends.delete(end);
        resolve(outcomeOf(code) + (isOver ? ' open' : ''));
      });
    });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };

  const send = (method: string, path: string, json?: unknown, headers?: object, onText?: (text: string) => void) =>
    new Promise<string>((resolve) => {
      const all = { ...(json !== undefined && { 'content-type': 'application/json' }), ...authorization, ...headers };
      const outgoing = request(url + path, { agent, method, headers: all }, (response) => {
        let outcome = `${response.statusCode} `;
        const findCode = (text: string) => (outcome += /"code":"(\w+)"/.exec(text.slice(0, 2_000))?.[1] ?? '');
        response.setEncoding('utf8').once('data', findCode);
        if (onText) response.on('data', onText);
        response.once('error', () => resolve(outcome + (isOver ? 'open' : 'cut')));
        response.once('end', () => resolve(outcome.trim()));
      });
      outgoing.once('error', ({ message }) => resolve(isOver ? 'open' : message));
      outgoing.end(json === undefined ? undefined : JSON.stringify(json));
    });
  /** Writes bytes, and more of them ten times a second. */
  const write = (bytes: string, { reads = true, more = '' } = {}) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
    let status = 'closed';
    socket.once('data', (chunk) => {
      status = chunk.toString().slice(9, 12);
      if (!reads) socket.pause();
    });
    const timer = setInterval(() => more && socket.write(more), 100);
    socket.once('close', () => clearInterval(timer)).write(bytes);
    return hold(socket, () => status);
  };
  /** Sends a first frame over a WebSocket, and then others in turn. */
  const talk = (path: string, protocol: string[], first: unknown, frames: Frames = {}) => {
    const socket = new WebSocket(url.replace('http', 'ws') + path, protocol, { localAddress });
    const say = (frame: unknown) => frame && socket.readyState === socket.OPEN && socket.send(JSON.stringify(frame));
    const timer = setInterval(() => say(frames.next?.()), frames.everyMs ?? 60);
    socket.once('open', () => {
      say(first);
      if (frames.reads === false) socket.pause();
    });
    socket.once('close', () => clearInterval(timer));
    let heard = '';
    socket.on('message', (data) => (heard ||= frames.proof?.exec(String(data))?.[0] ?? ''));
    return hold(socket, (code) => `${String(code)} ${heard}`.trim());
  };
  /** The bytes of a request, with the length of a body. */
  const head = (line: string, length = 0, accept = '*/*') =>
    `${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\naccept: ${accept}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  return {
    ...{ ...sender, send, write, head, turn: () => ++turns, isOver: () => isOver },
    get: (path: string, headers?: object) => send('GET', path, undefined, headers),
    post: (path: string, json: object) => send('POST', path, json),
    graphql: (query: string, more?: object) => send('POST', '/graphql', { query, ...more }),
    graphqlWs: (frames?: Frames) =>
      talk('/graphql', ['graphql-transport-ws'], token && { type: 'connection_init', payload: authorization }, frames),
    channel: (first: unknown, frames: Frames) => talk('/realtime/v1/websocket?apikey=key&vsn=2.0.0', [], first, frames),
    /** Requests something and does not read it. */
    ignore: (query: string, accept: string, body = JSON.stringify({ query })) =>
      write(head('POST /graphql', body.length, accept) + body, { reads: false }),
    close() {
      isOver = true;
      for (const end of ends) end();
    },
  };
}

import { request } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';

interface Conversation {
  url: string;
  protocol?: string;
  /** Frames to send: texts unchanged, all others as JSON. */
  frames: readonly unknown[];
  /** Returns the outcome if this frame decides it. */
  outcome(frame: never, socket: WebSocket): string | undefined;
}

export interface Opened {
  outcome: string;
  socket: WebSocket;
}

const textOf = (frame: unknown) => (typeof frame === 'string' ? frame : JSON.stringify(frame));

/** Opens a socket, sends frames, and resolves with the outcome, which may be the code of a close. */
function converse({ url, protocol, frames, outcome }: Conversation): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol ? [protocol] : []);
    socket.on('open', () => {
      for (const frame of frames) socket.send(textOf(frame));
    });
    socket.on('error', reject);
    socket.on('close', (code) => resolve({ outcome: String(code), socket }));
    socket.on('message', (bytes) => {
      const found = outcome(JSON.parse(String(bytes)) as never, socket);
      if (found !== undefined) resolve({ outcome: found, socket });
    });
  });
}

/** graphql-transport-ws: resolves with the result of the operation. With a token, sends the frames after the acknowledgement. */
export function graphqlWs(url: string, token: string | undefined, frames: readonly unknown[]): Promise<Opened> {
  const init = { type: 'connection_init', payload: { authorization: `Bearer ${token}` } };
  return converse({
    url: `${url}/graphql`,
    protocol: 'graphql-transport-ws',
    frames: token === undefined ? frames : [init],
    outcome({ type }: { type: string }, socket) {
      if (type === 'connection_ack') for (const frame of frames) socket.send(textOf(frame));
      return type === 'next' || type === 'error' ? type : undefined;
    },
  });
}

const TOPIC = 'realtime:limits';

/**
 * Supabase Realtime: resolves with the reply to the join, or `dropped` if a later heartbeat gets a reply first. With
 * `change`, which is called once the channel has joined, resolves when a change arrives.
 */
export function channel(url: string, join: unknown, change?: () => unknown): Promise<Opened> {
  const frame = typeof join === 'string' ? join : ['1', '1', TOPIC, 'phx_join', join];
  const heartbeat = [null, '2', 'phoenix', 'heartbeat', {}];
  return converse({
    url: `${url}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`,
    frames: typeof join === 'string' ? [frame, heartbeat] : [frame],
    outcome([, , topic, event, payload]: [unknown, unknown, string, string, { status?: string }]) {
      if (event === 'postgres_changes') return 'change';
      if (event !== 'phx_reply') return undefined;
      if (topic !== TOPIC) return 'dropped';
      if (payload.status !== 'ok' || !change) return `join ${payload.status}`;
      change();
      return undefined;
    },
  });
}

/** A response may take a long time on a busy machine. */
const RESPONSE_TIMEOUT_MS = 30_000;

const HANDSHAKE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'graphql-transport-ws' },
  ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
};

/**
 * Sends a fragmented message that never ends. Resolves with whether the socket was closed, or with the status if it did not
 * open. All fragments are one write, because writing each needs ten times the CPU that the product needs.
 */
export function fragments(url: string, piece: string, count: number): Promise<string> {
  // Masked with zeros, which do not change the text.
  const frame = (kind: number) => Buffer.from([kind, 0x80 | piece.length, 0, 0, 0, 0, ...Buffer.from(piece)]);
  const bytes = Buffer.concat([frame(0x01), ...Array<Buffer>(count - 1).fill(frame(0x00))]);
  const opening = request(`${url}/graphql`, { headers: HANDSHAKE });
  return new Promise<string>((resolve, reject) => {
    opening.on('error', reject);
    opening.on('response', (response) => resolve(String(response.resume().statusCode)));
    opening.on('upgrade', (_response, socket) => {
      socket.on('error', () => undefined); // `close` follows
      socket.on('close', () => resolve('closed'));
      socket.resume().write(bytes);
      socket.setTimeout(RESPONSE_TIMEOUT_MS, () => {
        resolve('kept');
        socket.destroy();
      });
    });
    opening.end();
  });
}

/**
 * Sends a body byte for byte. Resolves with the status of the response, `closed` if the connection ended before it was read,
 * or `kept` if nothing happened for `patienceMs` after everything was sent.
 */
export function rawBody(url: string, header: string, body: string, patienceMs = RESPONSE_TIMEOUT_MS): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise<string>((resolve) => {
    socket.once('data', (bytes) => resolve(String(bytes).split(' ')[1] ?? ''));
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', () => resolve('closed'));
    const head = `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${header}\r\n\r\n`;
    socket.write(head + body, () => {
      const timer = setTimeout(resolve, patienceMs, 'kept');
      socket.on('close', () => clearTimeout(timer));
    });
  }).finally(() => socket.destroy());
}

/** Server-sent events: resolves when the stream is open, with a function that reads the next change. */
export async function subscribe(url: string, token: string, query: string) {
  const controller = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
    signal: controller.signal,
  });
  const chunks = response.body?.values();
  return {
    async next(): Promise<string> {
      let hasData = false;
      for (let read = await chunks?.next(); read && !read.done; read = await chunks?.next()) {
        const text = Buffer.from(read.value).toString();
        hasData ||= text.includes('data: {"data"');
        if (hasData && text.endsWith('\n\n')) return 'next';
      }
      return String(response.status);
    },
    close: () => controller.abort(),
  };
}

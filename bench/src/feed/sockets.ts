import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { WebSocket } from 'ws';
import type { User } from './users.ts';

export const PROTOCOLS = ['graphql-ws', 'sse', 'multipart', 'channel'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** The protocol of a socket. The bare server's sockets get the same JSON without a protocol. */
export type SocketKind = Protocol | 'bare';

interface Handlers {
  onData: (chunk: Buffer) => void;
  /** The server closed the connection. */
  onEnd: (error: Error) => void;
}

/** Connects and subscribes; resolves when everything is sent, with a function that closes the connection. */
type Open = (url: string, user: User, handlers: Handlers) => Promise<() => Promise<void>>;

/** All fields that a list shows, and the position in the feed. */
const QUERY = `subscription { taskChanges { cursor sequence kind task {
  id title description completed dueDate category priority createdAt updatedAt version } } }`;
const EVERY_CHANGE = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
const HEARTBEAT_MS = 10_000;
/** How many sockets connect at the same time. */
const MAX_CONCURRENT_OPENS = 50;
const ARRIVAL_TIMEOUT_MS = 60_000;

const OPEN: Record<SocketKind, Open> = {
  bare: (url, { id }, handlers) => openWebSocket(`${url}/${id}`, [], handlers, []),
  'graphql-ws': (url, { token }, handlers) => {
    const init = { type: 'connection_init', payload: { authorization: `Bearer ${token}` } };
    const subscribe = { id: '1', type: 'subscribe', payload: { query: QUERY } };
    return openWebSocket(`${url}/graphql`, ['graphql-transport-ws'], handlers, [init, subscribe]);
  },
  channel: (url, { token }, handlers) => {
    const join = ['1', '1', 'realtime:tasks', 'phx_join', { access_token: token, config: EVERY_CHANGE }];
    const heartbeat = [null, '2', 'phoenix', 'heartbeat', {}];
    return openWebSocket(`${url}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`, [], handlers, [join], heartbeat);
  },
  sse: (url, user, handlers) => openStream(url, user, 'text/event-stream', handlers),
  multipart: (url, user, handlers) => openStream(url, user, 'multipart/mixed;subscriptionSpec=1.0', handlers),
};

/** Sends each message after the response to the one before, and then the heartbeat periodically. */
async function openWebSocket(
  url: string,
  protocols: string[],
  { onData, onEnd }: Handlers,
  messages: unknown[],
  heartbeat?: unknown,
): Promise<() => Promise<void>> {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols, { perMessageDeflate: false });
  const ended = new Promise<never>((_, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`The server closed a connection: ${code} ${reason}`)));
  });
  let isClosed = false;
  ended.catch((error: Error) => isClosed || onEnd(error));
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  await Promise.race([once(socket, 'open'), ended]);
  for (const [index, message] of messages.entries()) {
    if (index > 0) await Promise.race([once(socket, 'message'), ended]);
    send(message);
  }
  socket.on('message', onData);
  const intervalMs = HEARTBEAT_MS * (0.8 + Math.random() / 5); // not all at the same moment
  const timer = heartbeat === undefined ? undefined : setInterval(() => send(heartbeat), intervalMs);
  return async () => {
    isClosed = true;
    clearInterval(timer);
    socket.terminate();
    if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close');
  };
}

async function openStream(url: string, { token }: User, accept: string, { onData, onEnd }: Handlers) {
  const client = new Client(url, { bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' };
  const request = { method: 'POST', path: '/graphql', headers, body: JSON.stringify({ query: QUERY }) } as const;
  const { statusCode, body } = await client.request(request);
  if (statusCode !== 200) throw new Error(`A connection was refused: ${statusCode} ${await body.text()}`);
  let isClosed = false;
  const ended = (error?: Error) => isClosed || onEnd(error ?? new Error('The server closed a connection.'));
  body.on('data', onData).on('end', ended).on('error', ended);
  return async () => {
    isClosed = true;
    await client.destroy();
  };
}

/** The title of the n-th change. Its number can be found in the messages of every protocol. */
export const titleOf = (n: number) => `#${n}# Prepare the report of this week`;

/** Longer than `"#12345#`, the beginning of a title in JSON. */
const MAX_MARKER_LENGTH = 20;

/** Finds the numbers of changes in a stream: parsing a frame would take longer than the server needs to write it. */
export function createNumberFinder(onNumber: (n: number) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(/"#(\d+)#/g)) {
      onNumber(Number(match[1]));
      end = match.index + match[0].length;
    }
    rest = text.slice(Math.max(end, text.length - MAX_MARKER_LENGTH));
  };
}

let offset = 0;

/** Unix time in milliseconds with fractions, on the same clock as PostgreSQL's times. */
export const nowMs = () => performance.now() + offset;

/** Synchronises `nowMs` with the system clock, which is adjusted while `performance.now` runs freely. */
export function syncClock(): void {
  const before = Date.now();
  while (Date.now() === before);
  offset = Date.now() - performance.now();
}

export interface ListenerOptions {
  kind: SocketKind;
  /** The users of each server. A user who is listed twice gets twice as many sockets. */
  groups: { url: string; users: User[] }[];
  /** @default 1 */
  socketsPerOwner?: number;
}

export type Listeners = Awaited<ReturnType<typeof openListeners>>;

/** Opens sockets at one or more servers, and records what they receive. */
export async function openListeners({ kind, groups, socketsPerOwner = 1 }: ListenerOptions) {
  const lasts = new Map<string, number[]>();
  const closers: (() => Promise<void>)[] = [];
  let failure: Error | undefined;
  let recording: { numbers: number[]; times: number[] } = { numbers: [], times: [] };
  const fail = (error: Error) => (failure ??= error);
  const check = () => {
    if (failure) throw failure;
  };
  const openOne = async ({ url, user }: { url: string; user: User }) => {
    const last = lasts.get(user.id) ?? [];
    lasts.set(user.id, last);
    const index = last.push(0) - 1;
    const onChange = (n: number) => {
      if (n <= (last[index] ?? 0)) fail(new Error(`A socket received change ${n} after ${last[index]}.`));
      last[index] = n;
      recording.numbers.push(n);
      recording.times.push(nowMs());
    };
    closers.push(await OPEN[kind](url, user, { onData: createNumberFinder(onChange), onEnd: fail }));
  };
  const close = async () => void (await Promise.all(closers.map((each) => each())));
  const waiting = groups.flatMap(({ url, users }) =>
    users.flatMap((user) => Array<{ url: string; user: User }>(socketsPerOwner).fill({ url, user })),
  );
  try {
    while (waiting.length > 0) await Promise.all(waiting.splice(0, MAX_CONCURRENT_OPENS).map(openOne));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /**
     * Returns the numbers of changes that arrive because of some work, and their times. @throws unless exactly `count` arrive,
     * each once and in order, and no server closes a connection
     */
    async expect(count: () => number, work: () => Promise<unknown>) {
      const { numbers, times }: typeof recording = (recording = { numbers: [], times: [] });
      await work();
      for (
        const end = performance.now() + ARRIVAL_TIMEOUT_MS;
        numbers.length < count() && performance.now() < end;
        await sleep(5)
      )
        check();
      check();
      if (numbers.length === count()) return { numbers, times };
      throw new Error(`${numbers.length} messages arrived instead of ${count()}.`);
    },
    /** Returns the last change at each socket of an owner. */
    lastOf: (ownerId: string) => lasts.get(ownerId) ?? [],
    check,
    close,
  };
}

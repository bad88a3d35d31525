import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { WebSocket } from 'ws';
import type { User } from './users.ts';

export const PROTOCOLS = ['graphql-ws', 'sse', 'multipart', 'channel'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What a socket speaks. The bare server's sockets get the same JSON without a protocol. */
export type Speech = Protocol | 'bare';

interface Handlers {
  onData: (chunk: Buffer) => void;
  /** The server closed the connection. */
  onEnd: (error: Error) => void;
}

/** Connects and subscribes; resolves when nothing is left to be sent, with what closes the connection. */
type Open = (url: string, user: User, handlers: Handlers) => Promise<() => Promise<void>>;

/** All that a list shows, and the position in the feed. */
const QUERY = `subscription { taskChanges { cursor sequence kind task {
  id title description completed dueDate category priority createdAt updatedAt version } } }`;
const EVERY_CHANGE = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
const HEARTBEAT_MS = 10_000;
/** So many connect at the same time. */
const AT_ONCE = 50;
const ARRIVAL_MS = 30_000;

const OPEN: Record<Speech, Open> = {
  bare: (url, { id }, handlers) => openWebSocket(`${url}/${id}`, [], handlers, () => undefined),
  'graphql-ws': (url, { token }, handlers) =>
    openWebSocket(`${url}/graphql`, ['graphql-transport-ws'], handlers, async (say, heard) => {
      say({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
      await heard(); // the acknowledgement
      say({ id: '1', type: 'subscribe', payload: { query: QUERY } });
    }),
  channel: (url, { token }, handlers) =>
    openWebSocket(`${url}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`, [], handlers, (say) => {
      say(['1', '1', 'realtime:tasks', 'phx_join', { access_token: token, config: EVERY_CHANGE }]);
      const heartbeat = () => say([null, '2', 'phoenix', 'heartbeat', {}]);
      return setInterval(heartbeat, HEARTBEAT_MS * (0.8 + Math.random() / 5)); // not all at the same moment
    }),
  sse: (url, user, handlers) => openStream(url, user, 'text/event-stream', handlers),
  multipart: (url, user, handlers) => openStream(url, user, 'multipart/mixed;subscriptionSpec=1.0', handlers),
};

async function openWebSocket(
  url: string,
  protocols: string[],
  { onData, onEnd }: Handlers,
  begin: (
    say: (message: unknown) => void,
    heard: () => Promise<unknown>,
  ) => NodeJS.Timeout | undefined | Promise<undefined | void>,
): Promise<() => Promise<void>> {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols, { perMessageDeflate: false });
  const ended = new Promise<never>((_, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`The server closed a connection: ${code} ${reason}`)));
  });
  let isClosed = false;
  ended.catch((error: Error) => isClosed || onEnd(error));
  await Promise.race([once(socket, 'open'), ended]);
  const heard = () => Promise.race([once(socket, 'message'), ended]);
  const timer = await begin((message) => socket.send(JSON.stringify(message)), heard);
  socket.on('message', onData);
  return async () => {
    isClosed = true;
    clearInterval(timer ?? undefined);
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

/** The title of the n-th change: its number is found again whatever a protocol makes of it. */
export const titleOf = (n: number) => `#${n}# Prepare the report of this week`;

/** Longer than `"#12345#`, the beginning of a title in JSON. */
const MAX_LENGTH = 20;

/** Finds the numbers of changes in a stream: reading every frame would take longer than the server needs to write it. */
export function createNumberFinder(found: (n: number) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(/"#(\d+)#/g)) {
      found(Number(match[1]));
      end = match.index + match[0].length;
    }
    rest = text.slice(Math.max(end, text.length - MAX_LENGTH));
  };
}

let offset = 0;

/** Unix time in milliseconds with fractions: the clock that PostgreSQL's times come from. */
export const nowMs = () => performance.now() + offset;

/** The system's clock is steered while `performance.now` runs freely: brings the two together. */
export function setClock(): void {
  const before = Date.now();
  while (Date.now() === before);
  offset = Date.now() - performance.now();
}

export interface ListenerOptions {
  url: string;
  speech: Speech;
  /** A user who is named twice has twice as many sockets. */
  users: User[];
  socketsPerOwner: number;
}

/** Sockets of one server, and what they receive. */
export async function openListeners({ url, speech, users, socketsPerOwner }: ListenerOptions) {
  const lasts = new Map<string, number[]>(users.map(({ id }) => [id, []]));
  const closes: (() => Promise<void>)[] = [];
  let failure: Error | undefined;
  let recording = { numbers: new Array<number>(), times: new Array<number>() };
  const fail = (error: Error) => (failure ??= error);
  const check = () => {
    if (failure) throw failure;
  };
  const openOne = async (user: User) => {
    const last = lasts.get(user.id) ?? [];
    const index = last.push(0) - 1;
    const onChange = (n: number) => {
      if (n <= (last[index] ?? 0)) fail(new Error(`A socket got change ${n} after ${last[index]}.`));
      last[index] = n;
      recording.numbers.push(n);
      recording.times.push(nowMs());
    };
    closes.push(await OPEN[speech](url, user, { onData: createNumberFinder(onChange), onEnd: fail }));
  };
  const close = async () => void (await Promise.all(closes.map((each) => each())));
  const waiting = users.flatMap((user) => Array<User>(socketsPerOwner).fill(user));
  try {
    while (waiting.length > 0) await Promise.all(waiting.splice(0, AT_ONCE).map(openOne));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /** @throws when a socket got a change twice or out of order, or was closed */
    check,
    /** From now on, the numbers of changes as they arrive, and when they do. */
    record: () => (recording = { numbers: [], times: [] }),
    /** The last change at each socket of an owner. */
    lastOf: (ownerId: string) => lasts.get(ownerId) ?? [],
    close,
  };
}

/** Sockets over graphql-ws at one or more gateways. */
export async function openSubscribers(groups: { url: string; users: User[] }[], socketsPerOwner = 1) {
  const all = await Promise.all(
    groups.map((group) => openListeners({ ...group, speech: 'graphql-ws', socketsPerOwner })),
  );
  return {
    /** @throws unless exactly so many messages come of some work, each once and in order */
    async expect(messages: number, work: () => Promise<unknown>) {
      const recordings = all.map((listeners) => listeners.record());
      const count = () => recordings.reduce((sum, { numbers }) => sum + numbers.length, 0);
      await work();
      for (const deadline = performance.now() + ARRIVAL_MS; count() < messages; await sleep(20)) {
        for (const { check } of all) check();
        if (performance.now() > deadline) break;
      }
      for (const { check } of all) check();
      if (count() !== messages) throw new Error(`${count()} messages arrived, and there should be ${messages}.`);
    },
    close: () => Promise.all(all.map((listeners) => listeners.close())),
  };
}

/** A client that comes, subscribes and goes. */
export async function comeAndGo(url: string, user: User): Promise<void> {
  const listeners = await openListeners({ url, speech: 'graphql-ws', users: [user], socketsPerOwner: 1 });
  listeners.check();
  await listeners.close();
}

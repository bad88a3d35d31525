import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { createFilters } from '../src/filter.ts';
import { createHeartbeats } from '../src/timers.ts';
import type { ChangeReader, FailureReason, RealtimeUser, Subscribe } from '../src/options.ts';
import { createRealtimeServer } from '../src/server.ts';
import { closeGracefully, WS_CLOSE } from '../src/socket.ts';
import type { Change, Row, Table } from '../src/table.ts';

export const TASKS: Table = {
  name: 'tasks',
  columns: [
    { name: 'id', type: 'uuid' },
    { name: 'user_id', type: 'uuid' },
    { name: 'title', type: 'text' },
    { name: 'description', type: 'text' },
    { name: 'completed', type: 'bool' },
    { name: 'due_date', type: 'timestamptz' },
    { name: 'category', type: 'text' },
    { name: 'priority', type: 'text' },
    { name: 'version', type: 'int4' },
  ],
};

export const SERVED = { table: TASKS, filterOf: createFilters(TASKS), selections: new Map() };

/** A call that waits until the test lets it continue. */
export interface Waiting {
  what: 'token' | 'filters' | 'feed';
  /** The token, the address, or the owner. */
  of: string;
  resume(): void;
  fail(): void;
}

export interface Payload extends Record<string, unknown> {
  status?: string;
  message?: string;
  cursor?: string;
  response?: { reason?: string };
  data?: { record: { title: string; user_id: string } };
}
export type Frame = [joinRef: string | null, ref: string | null, topic: string, event: string, payload: Payload];

export type Client = ReturnType<ReturnType<typeof createChannelWorld>['connect']>;

export const TOPIC = 'realtime:tasks';
export const BINDINGS = [{ event: '*', schema: 'public', table: 'tasks' }];

/** Lets everything run that is only waiting for its turn of the event loop. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Channels on simulated sockets, with a feed and a token check that respond when the test lets them. A token is
 * `<user>.<kind>.<number>`; the kinds are `fresh`, `ending` (expires now), `fading` (just expired) and anything else,
 * which is invalid.
 */
export function createChannelWorld() {
  const waiting: Waiting[] = [];
  const changes = new Map<string, Change[]>();
  const attachedTo = new Map<string, Set<{ reader: ChangeReader; position: number; isReplaying: boolean }>>();
  /** All readers that the feed was given, in order. */
  const readers: ChangeReader[] = [];
  const watchers = new Set<{ sid: string; onEnd: () => void }>();
  const ended = new Set<string>();
  const clients: EventEmitter[] = [];
  const nowMs = Date.parse('2026-11-20T10:00:00Z');
  let sockets = 0;
  let subscriptions = 0;
  const failures: FailureReason[] = [];
  const delivered: Change[] = [];
  let onAge = (_canResume: () => boolean) => {};
  const world = {
    isWaiting: false,
    /** Sockets of all users together. */
    maxSockets: Infinity,
    /** Left for the topics and refs of further channels. */
    bytesLeft: 1_000,
  };

  const pass = async (what: Waiting['what'], of: string) => {
    if (!world.isWaiting) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ what, of, resume: resolve, fail: () => reject(new Error('not available')) });
    await promise;
  };

  const verify = async (token: string): Promise<RealtimeUser | undefined> => {
    await pass('token', token);
    const [id = '', kind = '', sid = ''] = token.split('.');
    const leftS = { fresh: 60, ending: 0, fading: -10 }[kind];
    if (ended.has(sid) || leftS === undefined) return undefined;
    const watch: RealtimeUser['watch'] = (onEnd) => {
      const watcher = { sid, onEnd };
      watchers.add(watcher);
      if (ended.has(sid)) queueMicrotask(onEnd);
      return () => void watchers.delete(watcher);
    };
    return { id, expiresAt: nowMs / 1000 + leftS, watch };
  };

  const of = (owner: string) => changes.get(owner) ?? [];
  const feed: { owners(): number; subscribe: Subscribe } = {
    owners: () => [...attachedTo.values()].filter(({ size }) => size > 0).length,
    async subscribe(owner, after, reader) {
      readers.push(reader);
      await pass('feed', owner);
      const [whose, sequence] = after?.split('|') ?? [owner, of(owner).length];
      if (whose !== owner) return 'cursor expired';
      const attached = { reader, position: Number(sequence), isReplaying: true };
      if (after === undefined) reader.onBegin?.(`${owner}|${sequence}`);
      const all = attachedTo.get(owner) ?? new Set();
      attachedTo.set(owner, all.add(attached));
      void (async () => {
        for (let next; all.has(attached) && (next = of(owner)[attached.position]);) {
          await reader.drained();
          if (all.has(attached)) deliver(attached, next);
        }
        attached.isReplaying = false;
      })();
      return () => void all.delete(attached);
    },
  };
  const deliver = (attached: { reader: ChangeReader; position: number }, change: Change) => {
    attached.position = Number(change.cursor.split('|')[1]);
    attached.reader.onChange(change);
  };

  const takeSocket = () => {
    if (sockets >= world.maxSockets) return undefined;
    sockets++;
    return () => void sockets--;
  };
  const realtime = createRealtimeServer({
    table: TASKS,
    tokens: { verify, isOfUser: (text) => /^(?:ada|bob)\.\w+\.\w+$/.test(text) },
    subscribe: (...request) => feed.subscribe(...request),
    limits: { messagesPerSecond: Infinity },
    takeSocket,
    takeChannel: (bytes) =>
      bytes <= world.bytesLeft ? ((world.bytesLeft -= bytes), () => (world.bytesLeft += bytes)) : undefined,
    compile: async (work, ip) => pass('filters', ip).then(work),
    heartbeats: createHeartbeats(),
    limitAge: (_end, canResume) => {
      onAge(canResume);
      return () => {};
    },
    metrics: {
      subscribed() {
        subscriptions++;
        return () => void subscriptions--;
      },
      failed: (reason) => void failures.push(reason),
      delivered: (change) => void delivered.push(change),
    },
    isTemporary: () => true,
    now: () => nowMs,
  });

  const held = () => ({ sockets, watchers: watchers.size, subscriptions });

  function connect() {
    const frames: Frame[] = [];
    let closed: { code: number; reason: string } | undefined;
    let mayGrowOld = () => false;
    const socket = Object.assign(new EventEmitter(), {
      ...{ OPEN: 1, readyState: 1, bufferedAmount: 0, ping: () => undefined, terminate: () => undefined },
      send: (text: string) => void (socket.readyState === socket.OPEN && frames.push(JSON.parse(text) as Frame)),
      close(code: number, reason: string) {
        closed ??= { code, reason };
        socket.readyState = 2;
      },
    });
    const webSocket = socket as unknown as WebSocket;
    /** The reply to a ref. */
    const reply = (to: string) => frames.find(([, ref, , event]) => event === 'phx_reply' && ref === to)?.[4];
    const send = (frame: unknown) => void socket.emit('message', Buffer.from(JSON.stringify(frame)), false);
    clients.push(socket);
    const connection = { writableLength: 0, write: (frame: Buffer) => (socket.send(textOf(frame)), true) };
    onAge = (canResume) => (mayGrowOld = canResume);
    realtime.serve(webSocket, connection, { version: '2.0.0', apikey: 'public-key', ip: '192.0.2.1' });
    return {
      frames,
      get closed() {
        return closed;
      },
      /** Whether the connection may be closed for its age. */
      mayGrowOld: () => mayGrowOld(),
      /** Pretends that this many bytes are waiting to be read. */
      lag: (bytes: number) => void (socket.bufferedAmount = bytes),
      send,
      /** Resolves with the reply, if there is one by then. */
      async join(ref: string, payload: Record<string, unknown> = {}, topic = TOPIC) {
        const config = { postgres_changes: BINDINGS };
        send([ref, ref, topic, 'phx_join', { config, access_token: 'ada.fresh.1', ...payload }]);
        await settled();
        return reply(ref);
      },
      /** Sends another token for the channel of a join. */
      push(token: string, joinRef = '1') {
        send([joinRef, null, TOPIC, 'access_token', { access_token: token }]);
        return settled();
      },
      leave: (joinRef: string | null, topic = TOPIC) => send([joinRef, `leave ${joinRef}`, topic, 'phx_leave', {}]),
      /** The titles that the client received. */
      received: () => frames.flatMap(([, , , , { data }]) => (data ? [data.record.title] : [])),
      cursors: () => frames.flatMap(([, , , , { cursor }]) => cursor ?? []),
      reply,
      hangUp: () => void socket.emit('close'),
      /** Makes the gateway close the socket gracefully. */
      closeGracefully: (why: string) => closeGracefully(webSocket, 'restart', [WS_CLOSE.restart, why]),
    };
  }

  return Object.assign(world, {
    ...{ waiting, feed, readers },
    /** Resources held for users: sockets, session watches, and channels counted as joined. */
    held,
    /** Why channels could not be joined or failed, as counted. */
    failures,
    /** Changes counted as delivered, once per channel. */
    delivered,
    connect,
    /** The title names the owner and the sequence. */
    commit(owner: string, row: Row = {}): Change {
      const change = makeChange(owner, of(owner).length + 1, row);
      changes.set(owner, [...of(owner), change]);
      for (const attached of [...(attachedTo.get(owner) ?? [])]) if (!attached.isReplaying) deliver(attached, change);
      return change;
    },

    cursor: (owner: string, sequence: number) => `${owner}|${sequence}`,
    unusableCursor: 'other|0',
    /** Simulates a restore of the store: ends every reader's feed. */
    restore() {
      for (const all of attachedTo.values())
        for (const attached of [...all]) {
          all.delete(attached);
          attached.reader.onEnd('expired');
        }
    },

    endSession(sid: string) {
      ended.add(sid);
      for (const watcher of [...watchers]) if (watcher.sid === sid) watcher.onEnd();
    },
    /** Lets what has waited longest continue, or fail. */
    async release(how: 'resume' | 'fail' = 'resume') {
      waiting.shift()?.[how]();
      await settled();
    },
    /** Lets everything that waits continue, including what only starts waiting because of that. */
    async settle() {
      await settled();
      for (let next; (next = waiting.shift()); await settled()) next.resume();
    },
    /** A client with a joined channel. */
    async joined(payload: Record<string, unknown> = {}) {
      const client = connect();
      expect(await client.join('1', payload)).toMatchObject({ status: 'ok' });
      return client;
    },
    /** Disconnects all clients. Nothing may be held for any of them afterwards. */
    end() {
      for (const socket of clients) socket.emit('close');
      expect([feed.owners(), held()]).toEqual([0, { sockets: 0, watchers: 0, subscriptions: 0 }]);
      expect(world.bytesLeft).toBe(1_000);
    },
  });
}

/** The text of a server's frame, after its first byte and its length. */
function textOf(frame: Buffer): string {
  const length = frame[1] ?? 0;
  return frame.toString('utf8', length < 126 ? 2 : length === 126 ? 4 : 10);
}

function makeChange(owner: string, sequence: number, row: Row): Change {
  return {
    kind: 'INSERT',
    record: {
      id: '0198f000-0000-7000-8000-000000000001',
      user_id: owner,
      title: `${owner}#${sequence}`,
      description: null,
      completed: false,
      due_date: null,
      category: null,
      priority: 'low',
      version: 1,
      ...row,
    },
    oldRecord: null,
    occurredAt: '2026-11-20T10:00:00.000Z',
    cursor: `${owner}|${sequence}`,
  };
}

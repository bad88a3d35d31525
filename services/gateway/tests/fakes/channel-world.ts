import { AppError, unavailable, type TaskChanged } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { EventEmitter } from 'node:events';
import { Registry } from 'prom-client';
import type { WebSocket } from 'ws';
import type { Caller, GatewayContext } from '../../src/context.ts';
import type { Feed } from '../../src/feed/feed.ts';
import type { FailureReason } from '../../src/subscriptions/metrics.ts';
import { createHeartbeats } from '../../src/transports/heartbeats.ts';
import { createConnectionMetrics } from '../../src/transports/metrics.ts';
import type { FeedReader } from '../../src/feed/owner-feed.ts';
import { createPhoenix } from '../../src/transports/phoenix/phoenix.ts';
import type { SessionWatch } from '../../src/transports/sockets/session-watch.ts';
import { closeGracefully, WS_CLOSE } from '../../src/transports/sockets/socket.ts';
import { only } from './strict.ts';

/** A call that waits until the test lets it continue. */
export interface Waiting {
  what: 'token' | 'feed';
  /** The token, or the owner. */
  of: string;
  goOn(): void;
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

export interface Client {
  frames: Frame[];
  closed: { code: number; reason: string } | undefined;
  onFrame: (frame: Frame) => void;
  /** Pretends that this many bytes are waiting to be read. */
  lag(bytes: number): void;
  send(frame: unknown): void;
  join(ref: string, payload: Record<string, unknown>, topic?: string): void;
  told(): string[];
  /** The cursors that it was told. */
  cursors(): string[];
  /** The reply to a ref. */
  reply(ref: string): Payload | undefined;
  hangUp(): void;
  /** Whether its connection may end by its age. */
  mayGrowOld(): boolean;
  /** The gateway closes its socket gracefully. */
  sendAway(why: string): void;
}

export const TOPIC = 'realtime:tasks';
export const BINDINGS = [{ event: '*', schema: 'public', table: 'tasks' }];
const GONE = 'gone';

/** Lets everything run that is only waiting for its turn. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Channels on simulated sockets, with a feed and a token check that answer when the test says so. A token is
 * `<user>.<kind>.<number>`; the kinds are `fresh`, `ending` (expires now), `fading` (just expired) and anything else,
 * which is invalid.
 */
export function createChannelWorld(config: Partial<GatewayContext['config']['realtime']> = {}) {
  const waiting: Waiting[] = [];
  const changes = new Map<string, TaskChanged[]>();
  const readers = new Map<string, Set<{ reader: FeedReader; position: number; isReplaying: boolean }>>();
  const watchers = new Set<{ sid: string; onEnd: () => void }>();
  const ended = new Set<string>();
  const clients: Client[] = [];
  let nowMs = Date.parse('2026-11-20T10:00:00Z');
  let places = 0;
  let subscriptions = 0;
  const failures: FailureReason[] = [];
  const delivered: TaskChanged[] = [];
  let onAge = (_canResume: () => boolean) => {};
  const clock = { now: () => nowMs };
  const log = createLog({ service: 'test', level: 'silent' });
  const world = {
    isWaiting: false,
    /** For all users together. */
    mostPlaces: Infinity,
  };

  const pass = async (what: Waiting['what'], of: string) => {
    if (!world.isWaiting) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ what, of, goOn: resolve, fail: () => reject(unavailable()) });
    await promise;
  };

  const authenticateToken = async (token: string, options?: { graceS: number }): Promise<Caller> => {
    await pass('token', token);
    const [userId = '', kind = '', sid = ''] = token.split('.');
    if (ended.has(sid)) return { kind: 'invalid' };
    const leftS = { fresh: 60, ending: 0, fading: -10 }[kind];
    if (leftS === undefined || leftS <= -(options?.graceS ?? 0)) return { kind: 'invalid' };
    const exp = nowMs / 1000 + leftS;
    const claims = { userId, email: '', iat: 0, exp, sub: userId, sid, jti: '' };
    return { kind: 'user', claims, identity: { role: 'user', userId, sessionId: sid } } as Caller;
  };

  const of = (owner: string) => changes.get(owner) ?? [];
  const feed: Feed = {
    start: async () => undefined,
    stop: async () => undefined,
    owners: () => [...readers.values()].filter(({ size }) => size > 0).length,
    async subscribe(owner, after, reader) {
      await pass('feed', owner);
      const [whose, sequence] = after?.split('|') ?? [owner, of(owner).length];
      if (whose !== owner) throw new AppError('CURSOR_EXPIRED', 'of no use');
      const attached = { reader, position: Number(sequence), isReplaying: true };
      if (after === undefined) reader.onBegin?.(`${owner}|${sequence}`);
      const all = readers.get(owner) ?? new Set();
      readers.set(owner, all.add(attached));
      void (async () => {
        for (let next; all.has(attached) && (next = of(owner)[attached.position]);) {
          await reader.drained();
          if (all.has(attached)) tell(attached, next);
        }
        attached.isReplaying = false;
      })();
      return () => void all.delete(attached);
    },
  };
  const tell = (attached: { reader: FeedReader; position: number }, change: TaskChanged) => {
    attached.position = change.sequence;
    attached.reader.onChange(change);
  };

  const watch: SessionWatch = ({ sid }, onEnd) => {
    const watcher = { sid, onEnd };
    watchers.add(watcher);
    if (ended.has(sid)) queueMicrotask(onEnd);
    return () => void watchers.delete(watcher);
  };
  const takeUser = () => {
    if (places >= world.mostPlaces) return undefined;
    places++;
    return () => void places--;
  };
  const phoenix = createPhoenix({
    // The parts that channels use.
    context: only('context', {
      config: only('config', {
        realtime: only('config.realtime', {
          maxSubscriptions: 20,
          maxSocketsPerUser: 20,
          anonKey: undefined,
          ...config,
        }),
      }),
      clock,
      log,
      authenticateToken,
    }) as unknown as GatewayContext,
    feed,
    watch,
    limits: { takeIp: takeUser, takeUser, takeRefusal: takeUser, messages: () => () => true },
    heartbeats: createHeartbeats(),
    limitAge: (_end, canResume) => {
      onAge(canResume);
      return () => {};
    },
    metrics: {
      ...createConnectionMetrics(new Registry()),
      subscribed() {
        subscriptions++;
        return () => void subscriptions--;
      },
      failed: (_protocol, reason) => void failures.push(reason),
      delivered: (_protocol, change) => void delivered.push(change),
    },
  });

  return Object.assign(world, {
    waiting,
    feed,
    /** What is held for users: places, session watches, and channels counted as joined. */
    held: () => ({ places, watchers: watchers.size, subscriptions }),
    /** Why channels could not be joined or failed, as counted. */
    failures,
    /** Changes counted as delivered, once per channel. */
    delivered,
    pass: (ms: number) => void (nowMs += ms),
    connect(apikey = 'public-key'): Client {
      const socket = Object.assign(new EventEmitter(), {
        OPEN: 1,
        readyState: 1,
        bufferedAmount: 0,
        ping: () => undefined,
        terminate: () => undefined,
        send(text: string) {
          if (socket.readyState !== socket.OPEN) return;
          const frame = JSON.parse(text) as Frame;
          client.frames.push(frame);
          client.onFrame(frame);
        },
        close(code: number, reason: string) {
          client.closed ??= { code, reason };
          socket.readyState = 2;
        },
      });
      const client: Client = {
        frames: [],
        closed: undefined,
        onFrame: () => undefined,
        lag: (bytes) => void (socket.bufferedAmount = bytes),
        send: (frame) => void socket.emit('message', Buffer.from(JSON.stringify(frame)), false),
        join: (ref, payload, topic = TOPIC) =>
          client.send([ref, ref, topic, 'phx_join', { config: { postgres_changes: BINDINGS }, ...payload }]),
        told: () => client.frames.flatMap(([, , , , { data }]) => (data ? [data.record.title] : [])),
        cursors: () => client.frames.flatMap(([, , , , { cursor }]) => cursor ?? []),
        reply: (to) => client.frames.find(([, ref, , event]) => event === 'phx_reply' && ref === to)?.[4],
        hangUp: () => void socket.emit('close'),
        mayGrowOld: () => false,
        sendAway: (why) => closeGracefully(socket as unknown as WebSocket, 'restart', [WS_CLOSE.restart, why]),
      };
      clients.push(client);
      const connection = {
        writableLength: 0,
        write(frame: Buffer) {
          socket.send(textOf(frame));
          return true;
        },
      };
      onAge = (canResume) => (client.mayGrowOld = canResume);
      phoenix.opened(socket as unknown as WebSocket, connection, { version: '2.0.0', apikey, ip: '192.0.2.1' });
      return client;
    },
    /** The title names the owner and the sequence. */
    commit(owner: string, task: Partial<TaskChanged['task']> = {}): TaskChanged {
      const change = makeChange(owner, of(owner).length + 1, task);
      changes.set(owner, [...of(owner), change]);
      for (const attached of [...(readers.get(owner) ?? [])]) if (!attached.isReplaying) tell(attached, change);
      return change;
    },
    head: (owner: string) => of(owner).length,
    cursor: (owner: string, sequence: number) => `${owner}|${sequence}`,
    unusableCursor: `${GONE}|0`,
    /** A restore of the store: ends every reader's feed. */
    restore() {
      for (const all of readers.values())
        for (const attached of [...all]) {
          all.delete(attached);
          attached.reader.onEnd('expired');
        }
    },
    hasEnded: (sid: string) => ended.has(sid),
    endSession(sid: string) {
      ended.add(sid);
      for (const watcher of [...watchers]) if (watcher.sid === sid) watcher.onEnd();
    },
    /** Lets everything that waits continue, including what only starts waiting because of that. */
    async settle(order: 'first' | 'last' = 'first') {
      await settled();
      for (let next; (next = order === 'first' ? waiting.shift() : waiting.pop()); await settled()) next.goOn();
    },
    hangUpAll() {
      for (const client of clients) client.hangUp();
    },
  });
}

/** The text of a server's frame: behind its mark and its length. */
function textOf(frame: Buffer): string {
  const length = frame[1] ?? 0;
  return frame.toString('utf8', length < 126 ? 2 : length === 126 ? 4 : 10);
}

function makeChange(ownerId: string, sequence: number, task: Partial<TaskChanged['task']>): TaskChanged {
  const at = '2026-11-20T10:00:00.000Z';
  return {
    id: String(sequence),
    epoch: 1,
    ownerId,
    sequence,
    kind: 'INSERT',
    task: {
      id: '0198f000-0000-7000-8000-000000000001',
      ownerId,
      title: `${ownerId}#${sequence}`,
      description: null,
      completed: false,
      dueDate: null,
      category: null,
      priority: 'low',
      createdAt: at,
      updatedAt: at,
      version: 1,
      ...task,
    },
    previous: null,
    occurredAt: at,
    cursor: `${ownerId}|${sequence}`,
  };
}

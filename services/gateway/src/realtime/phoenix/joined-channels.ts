import type { WebSocket } from 'ws';
import type { Caller, GatewayParts } from '../../parts.ts';
import type { EndReason, RealtimeMetrics } from '../metrics.ts';
import type { FeedEnd } from '../owner-feed.ts';
import type { SessionWatch } from '../session-watch.ts';
import { endSocket, WS_CLOSE } from '../socket.ts';
import type { SocketLimits } from '../socket-limits.ts';
import type { Channel } from './channel.ts';
import { endOf } from './tokens.ts';
import type { Wire } from './wire.ts';

const FRESH_TOKEN_WITHIN_MS = 10_000;

export type User = Extract<Caller, { kind: 'user' }>;

export interface JoinConfig {
  broadcast?: { ack?: unknown; self?: unknown };
  presence?: { enabled?: unknown };
  postgres_changes?: unknown;
}

/** A channel with whose token it is. */
export interface Joined {
  readonly channel: Channel;
  readonly config: JoinConfig;
  /** Where the channel begins once its token counts. */
  readonly since: string | undefined;
  token: string;
  user: User;
  /** Releases what belongs to the token: the watch over its session, the user's place. */
  release: () => void;
}

/** The channels of one socket, and how they and it end. */
export interface JoinedChannels {
  readonly size: number;
  get(topic: string): Joined | undefined;
  add(joined: Joined): void;
  leave(topic: string): Joined | undefined;
  leaveAll(): void;
  /** Takes the user's place at this gateway, one for each socket, and watches over the session; undefined: no place left. */
  hold(user: User): (() => void) | undefined;
  /** A channel whose token just ran out: nothing is delivered until a fresh one comes, and not for long. */
  await(topic: string): () => void;
  /** Says on every channel why, then ends the socket: clients come back by themselves. */
  closeAll(reason: EndReason, close: [code: number, why: string]): void;
  onFeedEnd(topic: string, reason: FeedEnd | 'slow'): void;
}

export interface JoinedChannelsDeps {
  socket: WebSocket;
  wire: Wire;
  parts: GatewayParts;
  watch: SessionWatch;
  limits: SocketLimits;
  metrics: RealtimeMetrics;
}

export function createJoinedChannels(deps: JoinedChannelsDeps): JoinedChannels {
  const { socket, wire, parts, watch, metrics } = deps;
  const byTopic = new Map<string, Joined & { unsubscribed: () => void }>();
  const takePlace = createPlaces(deps.limits);

  const leave = (topic: string): Joined | undefined => {
    const joined = byTopic.get(topic);
    if (!joined) return undefined;
    byTopic.delete(topic);
    joined.channel.unscope();
    joined.release();
    joined.unsubscribed();
    return joined;
  };

  const closeAll: JoinedChannels['closeAll'] = (reason, [code, why]) => {
    // They end now, however long the client takes to hear of it.
    for (const topic of [...byTopic.keys()]) {
      const { channel } = leave(topic) ?? {};
      if (channel) wire.system(channel, { extension: 'system', status: 'error', message: why });
    }
    endSocket(socket, reason, [code, why]);
  };

  return {
    get size() {
      return byTopic.size;
    },
    get: (topic) => byTopic.get(topic),
    add(joined) {
      byTopic.set(joined.channel.topic, Object.assign(joined, { unsubscribed: metrics.subscribed('channel') }));
    },
    leave,
    leaveAll() {
      for (const topic of [...byTopic.keys()]) leave(topic);
    },
    hold({ identity, claims }) {
      const free = takePlace(identity.userId);
      if (!free) return undefined;
      const unwatch = watch(claims, () =>
        closeAll('session_ended', [WS_CLOSE.unauthorized, endOf(claims, parts.clock.now())]),
      );
      return () => {
        free();
        unwatch();
      };
    },
    await(topic) {
      const timer = setTimeout(() => {
        const { channel } = leave(topic) ?? {};
        if (channel) wire.failChannel(channel, { code: WS_CLOSE.unauthorized, reason: 'token expired' });
      }, FRESH_TOKEN_WITHIN_MS);
      return () => clearTimeout(timer);
    },
    closeAll,
    onFeedEnd(topic, reason) {
      if (reason === 'slow') return closeAll('slow', [WS_CLOSE.tryLater, 'Too slow']);
      if (reason === 'stopped') return closeAll('restart', [WS_CLOSE.restart, 'Service restart']);
      const { channel } = leave(topic) ?? {};
      if (!channel) return;
      metrics.failed('channel', 'cursor_expired');
      const message = 'CURSOR_EXPIRED: the tasks were restored; read them anew';
      wire.system(channel, { extension: 'system', status: 'error', message });
      wire.failChannel(channel);
    },
  };
}

/** However many channels of a socket are a user's, they take one place. */
function createPlaces(limits: SocketLimits): (userId: string) => (() => void) | undefined {
  const held = new Map<string, { channels: number; free: () => void }>();
  return (userId) => {
    let place = held.get(userId);
    if (!place) {
      const free = limits.takeUser(userId);
      if (!free) return undefined;
      place = { channels: 0, free };
      held.set(userId, place);
    }
    const taken = place;
    taken.channels++;
    return () => {
      if (--taken.channels > 0) return;
      held.delete(userId);
      taken.free();
    };
  };
}

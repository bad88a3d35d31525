import type { WebSocket } from 'ws';
import type { Feed } from '../../feed/feed.ts';
import type { FailureReason } from '../../subscriptions/metrics.ts';
import { endSocket, WS_CLOSE } from '../sockets/socket.ts';
import type { SocketLimits } from '../sockets/socket-limits.ts';
import type { TransportDeps } from '../transport.ts';
import type { BindingLimits } from './binding-limits.ts';
import { createChannel, type Channel, type ChannelsOfSocket } from './channel.ts';
import type { Message } from './frames.ts';
import { readJoin, topicRefusal } from './join.ts';
import { endOf, type PublicKeys } from './tokens.ts';
import type { ChannelMessages } from './channel-messages.ts';

/** The channels of one socket, at most one per topic. */
export interface Channels extends ChannelsOfSocket {
  get(topic: string): Channel | undefined;
  /** Closes the topic's previous channel, even if the new join is refused. */
  join(message: Message): Promise<void>;
  /** Whether every channel's client knows a cursor, so that it misses nothing when the socket is closed and opened again. */
  canResume(): boolean;
  /** Ends every channel, each with its cursor and the reason: where to go on from, when its client comes back. */
  sayGoodbye(why: string): void;
  endAll(): void;
}

export interface ChannelsDeps extends Omit<TransportDeps, 'heartbeats' | 'limitAge'> {
  socket: WebSocket;
  keys: PublicKeys;
  messages: ChannelMessages;
  /** The client's address. */
  ip: string;
  feed: Feed;
  bindingLimits: BindingLimits;
}

export function createChannels(deps: ChannelsDeps): Channels {
  const { socket, keys, messages, context, watch, bindingLimits, metrics } = deps;
  const byTopic = new Map<string, Channel>();
  const takePlace = createPlaces(deps.limits);
  /** Unanswered joins, including those whose client has given up. */
  let underWay = 0;

  const forget = (channel: Channel) => {
    if (byTopic.get(channel.topic) === channel) byTopic.delete(channel.topic);
  };

  /** Closes them now, however long the client takes to read the notice. */
  const endAllBecause = (why: string) => {
    for (const channel of [...byTopic.values()]) {
      channel.close();
      messages.system(channel, { extension: 'system', status: 'error', message: why });
    }
  };

  const channels: Channels = {
    get: (topic) => byTopic.get(topic),
    async join(message) {
      const { topic, joinRef } = message;
      const refuse = (reason: string, why: FailureReason = 'refused') => {
        metrics.failed('channel', why);
        messages.reply(message, 'error', { reason });
      };
      const previous = byTopic.get(topic);
      const wasJoined = previous?.isJoined();
      previous?.close();
      if (previous && wasJoined) messages.closeChannel(previous);
      const impossible = topicRefusal(topic);
      if (impossible !== undefined) return refuse(impossible);
      if (Math.max(byTopic.size, underWay) >= context.config.realtime.maxSubscriptions)
        return refuse('ChannelRateLimitReached: Too many channels', 'subscription_limit');
      const request = readJoin(message, keys);
      if ('reason' in request) {
        refuse(request.reason);
        return request.isFinal ? messages.closeChannel({ topic, joinRef }) : undefined;
      }
      const channel = createChannel(request, { ...deps, channels, onClosed: forget });
      byTopic.set(topic, channel);
      underWay++;
      return channel.join().finally(() => underWay--);
    },
    hold({ identity, claims }, bindings) {
      const free = takePlace(identity.userId);
      if (!free) return 'connections';
      const giveBack = bindingLimits.take(identity.userId, bindings);
      if (!giveBack) {
        free();
        return 'bindings';
      }
      const unwatch = watch(claims, () =>
        channels.closeAll('session_ended', [WS_CLOSE.unauthorized, endOf(claims, context.clock.now())]),
      );
      return () => {
        free();
        giveBack();
        unwatch();
      };
    },
    canResume: () => [...byTopic.values()].every((channel) => channel.canResume()),
    sayGoodbye(why) {
      for (const channel of [...byTopic.values()]) channel.settle();
      endAllBecause(why);
    },
    closeAll(reason, [code, why]) {
      endAllBecause(why);
      endSocket(socket, reason, [code, why]);
    },
    endAll() {
      for (const channel of [...byTopic.values()]) channel.close();
    },
  };
  return channels;
}

/** All channels of one user on a socket share one place. */
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

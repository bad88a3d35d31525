import type { WebSocket } from 'ws';
import { createChannel, OBSTACLES, type Channel, type ChannelDeps, type ChannelsOfSocket } from './channel.ts';
import { readJoin, topicRefusal, type Binding, type PublicKeys, type Served } from './join.ts';
import type { Message } from './messages.ts';
import type { FailureReason } from './options.ts';
import { endSocket, WS_CLOSE } from './socket.ts';
import { JoinRefused } from './table.ts';

/** The channels of one socket, at most one per topic. */
export interface Channels extends ChannelsOfSocket {
  get(topic: string): Channel | undefined;
  /** Joins a topic. Closes the topic's previous channel, even if the new join is refused. */
  join(message: Message): Promise<void>;
  /** Whether the client has a cursor for every channel, so that it misses nothing when it reconnects. */
  canResume(): boolean;
  /** Ends every channel and sends each one's cursor, from which the client resumes when it reconnects, and the reason. */
  announceEnd(reason: string): void;
  endAll(): void;
}

export type TakeSocket = (userId: string) => (() => void) | undefined;

export interface ChannelsDeps extends Omit<ChannelDeps, 'channels' | 'onClosed'>, Served {
  socket: WebSocket;
  keys: PublicKeys;
  maxChannels: number;
  takeSocket: TakeSocket;
  /** Reserves memory for a channel whose topic and refs keep this many bytes. */
  takeChannel(bytes: number): (() => void) | undefined;
  bindingLimits: BindingLimits;
}

/** Clients rejoin by themselves: each refused channel about four times in the first 20 seconds. */
const REFUSALS_PER_CHANNEL = 4;

export function createChannels(deps: ChannelsDeps): Channels {
  const { socket, keys, maxChannels, messages, bindingLimits, metrics, now } = deps;
  const byTopic = new Map<string, Channel>();
  const reserveUser = createUserReservations(deps.takeSocket);
  /** Joins without a reply, including those that the client has given up. */
  let pendingJoins = 0;

  // Not inside `join`: the closure would keep the message for as long as the channel lives.
  const forgetAfter = (release: () => void) => (channel: Channel) => {
    release();
    if (byTopic.get(channel.topic) === channel) byTopic.delete(channel.topic);
  };

  /** Consecutive refused joins while no channel was joined. */
  let refusals = 0;

  const join = async (message: Message) => {
    const { topic, joinRef } = message;
    const refuse = (reason: string, failure: FailureReason = 'refused') => {
      metrics.failed(failure);
      messages.reply(message, 'error', { reason });
    };
    const previous = byTopic.get(topic);
    const wasJoined = previous?.isJoined();
    previous?.close();
    // Without a reference, the client would apply the message to the channel that it joins now.
    if (previous && wasJoined && previous.joinRef !== null) messages.closeChannel(previous);
    const refusal = topicRefusal(topic);
    if (refusal !== undefined) return refuse(refusal);
    if (Math.max(byTopic.size, pendingJoins) >= maxChannels)
      return refuse('ChannelRateLimitReached: Too many channels', 'subscription_limit');
    try {
      const request = readJoin(message, deps, keys);
      const release = deps.takeChannel(JSON.stringify([topic, joinRef, message.ref]).length);
      if (!release) return refuse(OBSTACLES.unavailable.reason, OBSTACLES.unavailable.failure);
      const channel = createChannel(request, { ...deps, channels, onClosed: forgetAfter(release) });
      byTopic.set(topic, channel);
      pendingJoins++;
      return await channel.join().finally(() => pendingJoins--);
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error;
      refuse(error.message);
      if (error.isFinal) messages.closeChannel({ topic, joinRef });
    }
  };

  const channels: Channels = {
    get: (topic) => byTopic.get(topic),
    async join(message) {
      await join(message);
      refusals = [...byTopic.values()].some((channel) => channel.isJoined()) ? 0 : refusals + 1;
      if (refusals > REFUSALS_PER_CHANNEL * maxChannels)
        channels.closeAll('bad_message', [WS_CLOSE.tryLater, 'Too many refused joins']);
    },
    reserve({ id, expiresAt, watch }, bindings) {
      const releaseUser = reserveUser(id);
      if (!releaseUser) return 'connections';
      const releaseBindings = bindingLimits.reserve(id, bindings);
      if (!releaseBindings) {
        releaseUser();
        return 'bindings';
      }
      const unwatch = watch(() => channels.closeAll('session_ended', [WS_CLOSE.unauthorized, endOf(expiresAt, now())]));
      return () => {
        releaseUser();
        releaseBindings();
        unwatch();
      };
    },
    canResume: () => [...byTopic.values()].every((channel) => channel.canResume()),
    announceEnd(reason) {
      for (const channel of [...byTopic.values()]) channel.flushCursor();
      // At once, regardless of how long the client takes to read the notice.
      for (const channel of [...byTopic.values()]) {
        channel.close();
        messages.system(channel, { extension: 'system', status: 'error', message: reason });
      }
    },
    closeAll(reason, [code, text]) {
      channels.announceEnd(text);
      endSocket(socket, reason, [code, text]);
    },
    endAll() {
      for (const channel of [...byTopic.values()]) channel.close();
    },
  };
  return channels;
}

const SLACK_MS = 1_000;

/** Why a token that was valid is no longer accepted. */
function endOf(expiresAt: number, nowMs: number): string {
  return expiresAt * 1000 <= nowMs + SLACK_MS ? 'Token has expired' : 'The session has ended';
}

/** All channels of one user on a socket share one reservation. */
function createUserReservations(takeSocket: TakeSocket): TakeSocket {
  const reservations = new Map<string, { channels: number; free: () => void }>();
  return (userId) => {
    let reservation = reservations.get(userId);
    if (!reservation) {
      const free = takeSocket(userId);
      if (!free) return undefined;
      reservation = { channels: 0, free };
      reservations.set(userId, reservation);
    }
    const reserved = reservation;
    reserved.channels++;
    return () => {
      if (--reserved.channels > 0) return;
      reservations.delete(userId);
      reserved.free();
    };
  };
}

export interface BindingLimitOptions {
  /** Bindings per user. */
  bindings: number;
  /** Cost per user: the sum over all distinct filters and sets of columns. */
  cost: number;
  /** Memory per user for all distinct filters. */
  bytes: number;
  /** Memory for all users. Beyond this limit, only users with at most `smallUserBytes` are admitted. */
  allBytes: number;
  smallUserBytes: number;
}

/** Limits the memory of a user's bindings and their cost per change, across all of the user's sockets on this gateway. */
export type BindingLimits = ReturnType<typeof createBindingLimits>;

interface Reserved {
  bindings: number;
  cost: number;
  bytes: number;
  /** The number of bindings for each filter and set of columns. Equal ones are stored once, and evaluated once per change. */
  shared: Map<string, number>;
}

/** A change is serialized once for each set of columns. */
const SELECT_COST = 10;

const costsOf = ({ filter, select }: Binding) => [
  ...(filter ? [filter] : []),
  ...(select ? [{ text: `select ${select.join()}`, cost: SELECT_COST, bytes: 0 }] : []),
];

export function createBindingLimits(limits: BindingLimitOptions) {
  const users = new Map<string, Reserved>();
  let allBytes = 0;

  return {
    /** Reserves bindings. Returns a function that releases them; undefined when a limit is exceeded. */
    reserve(userId: string, bindings: readonly Binding[]) {
      if (bindings.length === 0) return () => {};
      const reserved = users.get(userId) ?? { bindings: 0, cost: 0, bytes: 0, shared: new Map<string, number>() };
      const costs = bindings.flatMap(costsOf);
      const next = { ...reserved, bindings: reserved.bindings + bindings.length };
      for (const { text, cost, bytes } of new Map(costs.map((each) => [each.text, each])).values()) {
        if (reserved.shared.has(text)) continue;
        next.cost += cost;
        next.bytes += bytes;
      }
      if (next.bindings > limits.bindings || next.cost > limits.cost || next.bytes > limits.bytes) return undefined;
      const added = next.bytes - reserved.bytes;
      if (added > 0 && allBytes + added > limits.allBytes && next.bytes > limits.smallUserBytes) return undefined;
      allBytes += added;
      users.set(userId, Object.assign(reserved, next));
      for (const { text } of costs) reserved.shared.set(text, (reserved.shared.get(text) ?? 0) + 1);
      return () => {
        reserved.bindings -= bindings.length;
        for (const { text, cost, bytes } of bindings.flatMap(costsOf)) {
          const remaining = (reserved.shared.get(text) ?? 1) - 1;
          if (remaining > 0) reserved.shared.set(text, remaining);
          else {
            reserved.shared.delete(text);
            reserved.cost -= cost;
            reserved.bytes -= bytes;
            allBytes -= bytes;
          }
        }
        if (reserved.bindings === 0) users.delete(userId);
      };
    },
  };
}

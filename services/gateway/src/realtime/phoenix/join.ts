import { AppError } from '@taskmesh/errors';
import type { WebSocket } from 'ws';
import type { GatewayParts } from '../../parts.ts';
import type { Feed } from '../feed.ts';
import type { FailureReason, RealtimeMetrics } from '../metrics.ts';
import { endSocket, WS_CLOSE } from '../socket.ts';
import { BindingError, readBindings, type Binding } from './bindings.ts';
import { Channel } from './channel.ts';
import { isRecord, type Message } from './frames.ts';
import type { Joined, JoinConfig, JoinedChannels, User } from './joined-channels.ts';
import { GRACE_S, tokenOf } from './tokens.ts';
import type { Wire } from './wire.ts';

export interface JoinsDeps {
  socket: WebSocket;
  /** As it came in the URL: the public key, or a user's token. */
  apikey: string;
  wire: Wire;
  channels: JoinedChannels;
  parts: GatewayParts;
  feed: Feed;
  metrics: RealtimeMetrics;
}

/** How channels are joined, and whose they are. */
export interface Joins {
  join(message: Message): Promise<void>;
  /** Whether a join of this topic is under way. */
  isJoining(topic: string): boolean;
  /** Gives up what is under way: for a topic, or all. */
  forget(topic?: string): void;
  /** Another token for a joined channel. */
  refresh(message: Message): Promise<void>;
}

export function createJoins({ socket, apikey, wire, channels, parts, feed, metrics }: JoinsDeps): Joins {
  /** Joins under way, by topic: a later one replaces an earlier one. */
  const joining = new Map<string, Message>();

  const tellExpired = (channel: Channel) => {
    metrics.failed('channel', 'cursor_expired');
    wire.system(channel, { extension: 'resume', status: 'error', message: 'CURSOR_EXPIRED' });
  };

  /** The user of a token; undefined when it does not count, `isFading` when it did until a moment ago. */
  const userOf = async (token: string): Promise<{ user: User; isFading: boolean } | undefined> => {
    const caller = await parts.authenticateToken(token);
    if (caller.kind === 'user') return { user: caller, isFading: false };
    const faded = await parts.authenticateToken(token, { graceS: GRACE_S });
    return faded.kind === 'user' ? { user: faded, isFading: true } : undefined;
  };

  const join = async (message: Message) => {
    const { topic, joinRef, payload } = message;
    const previous = channels.leave(topic);
    if (previous) wire.closeChannel(previous.channel);
    joining.set(topic, message);
    const isCurrent = () => joining.get(topic) === message && socket.readyState === socket.OPEN;
    const refuse = (reason: string, why: FailureReason = 'refused', isFinal = false) => {
      joining.delete(topic);
      metrics.failed('channel', why);
      wire.reply(message, 'error', { reason });
      if (isFinal) wire.closeChannel({ topic, joinRef });
    };
    // This one is among those under way.
    if (channels.size + joining.size > parts.config.realtime.maxSubscriptions)
      return refuse('ChannelRateLimitReached: Too many channels', 'subscription_limit');
    const config = isRecord(payload['config']) ? (payload['config'] as JoinConfig) : {};
    const bindings = bindingsOf(config.postgres_changes);
    if (bindings instanceof BindingError) return refuse(bindings.message, 'refused', bindings.isFinal);

    const token = tokenOf(payload['user_token'] ?? payload['access_token'], apikey) ?? tokenOf(apikey, undefined);
    if (!token) return refuse('Unauthorized: access_token required');
    const found = await userOf(token);
    if (!isCurrent()) return;
    if (!found) return refuse('InvalidJWTToken: The token provided is not valid');
    const { user, isFading } = found;
    const release = isFading ? channels.await(topic) : channels.hold(user);
    if (!release) {
      refuse('ConnectionRateLimitReached: Too many connections of this user');
      return endSocket(socket, 'connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
    }

    const resume = isRecord(payload['resume']) ? payload['resume'] : undefined;
    const since = typeof resume?.['since'] === 'string' ? resume['since'] : undefined;
    const channel = new Channel({
      topic,
      joinRef,
      bindings,
      tellsCursor: resume !== undefined,
      feed,
      clock: parts.clock,
      outlet: wire.outlet,
      onDelivered: (change, scopedAt) => metrics.delivered('channel', change, scopedAt),
      onEnd: (reason) => channels.onFeedEnd(topic, reason),
    });
    let isResumed = true;
    try {
      if (!isFading) isResumed = await scope(channel, user, since);
    } catch {
      release();
      if (isCurrent()) refuse('UnableToSubscribe: The service is not available right now', 'unavailable');
      return;
    }
    if (!isCurrent()) {
      channel.unscope();
      return release();
    }
    joining.delete(topic);
    channels.add({ channel, config, since, token, user, release });

    wire.reply(message, 'ok', { postgres_changes: bindings.map(({ asked, id }) => ({ ...asked, id })) });
    if (bindings.length > 0)
      wire.system(channel, { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL' });
    if (config.presence?.enabled === true || config.presence?.enabled === 'true')
      wire.send({ joinRef, ref: null, topic, event: 'presence_state', payload: {} });
    if (!isResumed) tellExpired(channel);
    channel.open();
  };

  const refresh = async ({ topic, payload }: Message) => {
    const joined = channels.get(topic);
    const token = tokenOf(payload['access_token'], apikey);
    if (!joined || !token || token === joined.token) return;
    const found = await userOf(token);
    if (channels.get(topic) !== joined) return;
    if (!found) return channels.closeAll('unauthorized', [WS_CLOSE.unauthorized, 'The token provided is not valid']);
    if (found.isFading) return; // one that just ran out says nothing new; the present one is watched
    await handOver(joined, token, found.user);
  };

  const handOver = async (joined: Joined, token: string, next: User) => {
    const { channel, user: previous, since } = joined;
    const wasPending = previous.claims.exp * 1000 <= parts.clock.now();
    const isSameUser = previous.identity.userId === next.identity.userId;
    // Given back first: who has all places in use must be able to go on in one of them.
    joined.release();
    joined.release = () => {};
    const release = channels.hold(next);
    if (!release) return channels.closeAll('connection_limit', [WS_CLOSE.tryLater, 'Too many connections']);
    Object.assign(joined, { token, user: next, release });
    if (isSameUser && !wasPending) return;
    // Nothing of the former user is delivered from this moment on.
    try {
      if (!(await scope(channel, next, isSameUser ? since : undefined))) tellExpired(channel);
    } catch {
      channels.closeAll('error', [WS_CLOSE.tryLater, 'The service is not available right now']);
    }
  };

  return {
    join,
    isJoining: (topic) => joining.has(topic),
    forget(topic) {
      if (topic === undefined) joining.clear();
      else joining.delete(topic);
    },
    refresh,
  };
}

/** False when the cursor cannot be used: then the channel begins now. @throws AppError when the feed cannot be had at all */
async function scope(channel: Channel, { identity }: User, since: string | undefined): Promise<boolean> {
  try {
    await channel.scopeTo(identity.userId, since);
    return true;
  } catch (error) {
    if (since === undefined || !(error instanceof AppError) || error.code !== 'CURSOR_EXPIRED') throw error;
    await channel.scopeTo(identity.userId);
    return false;
  }
}

function bindingsOf(asked: unknown): Binding[] | BindingError {
  try {
    return readBindings(asked);
  } catch (error) {
    if (error instanceof BindingError) return error;
    throw error;
  }
}

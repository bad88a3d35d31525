import { AppError } from '@taskmesh/errors';
import type { AccessTokenClaims } from '@taskmesh/identity';
import type { WebSocket } from 'ws';
import type { Caller, GatewayParts } from '../../parts.ts';
import type { Feed } from '../feed.ts';
import type { FeedEnd } from '../owner-feed.ts';
import type { SessionWatch } from '../session-watch.ts';
import type { SocketLimits } from '../socket-limits.ts';
import { drainedSocket, isTooFarBehind, keepAlive, WS_CLOSE } from '../socket.ts';
import { BindingError, readBindings, type Binding } from './bindings.ts';
import { Channel } from './channel.ts';
import { decode, encode, isRecord, type Message, type ProtocolVersion } from './frames.ts';

/** A token that ran out no longer ago than this joins, and waits for a fresh one. */
const GRACE_S = 60;
const FRESH_TOKEN_WITHIN_MS = 10_000;
/** Clients send heartbeats every 25 s; one that is silent for so long is gone. */
const SILENCE_MS = 75_000;

export interface ConnectionDeps {
  parts: GatewayParts;
  feed: Feed;
  watch: SessionWatch;
  limits: SocketLimits;
}

export interface ConnectionOptions {
  version: ProtocolVersion;
  /** As it came in the URL: the public key, or a user's token. */
  apikey: string;
}

type User = Extract<Caller, { kind: 'user' }>;

/** A channel with whose token it is. */
interface Joined {
  channel: Channel;
  token: string;
  user: User;
  /** Releases what belongs to the token: the watch over its session, the user's place. */
  release: () => void;
}

interface JoinConfig {
  broadcast?: { ack?: unknown; self?: unknown };
  presence?: { enabled?: unknown };
  postgres_changes?: unknown;
}

/** One socket of the Supabase Realtime protocol: see https://supabase.com/docs/guides/realtime/protocol */
export function serveConnection(socket: WebSocket, { version, apikey }: ConnectionOptions, deps: ConnectionDeps): void {
  const { parts, feed, watch, limits } = deps;
  const channels = new Map<string, Joined>();
  const configs = new Map<string, JoinConfig>();
  /** Joins under way, by topic: a later one replaces an earlier one. */
  const joining = new Map<string, Message>();
  const mayTalk = limits.messages();
  let lastHeardAt = parts.clock.now();

  const send = (message: Message) => {
    if (socket.readyState === socket.OPEN) socket.send(encode(version, message));
  };
  const reply = ({ joinRef, ref, topic }: Message, status: 'ok' | 'error', response: Record<string, unknown>) =>
    send({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } });
  const system = (topic: string, joinRef: string | null, payload: Record<string, unknown>) =>
    send({
      joinRef,
      ref: null,
      topic,
      event: 'system',
      payload: { ...payload, channel: topic.replace(/^realtime:/, '') },
    });
  const closeChannel = (topic: string, joinRef: string | null) =>
    send({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} });

  /** Says on every channel why, then ends the socket: clients come back by themselves. */
  const closeAll = (code: number, why: string) => {
    for (const { channel } of channels.values()) {
      channel.unscope();
      system(channel.topic, channel.joinRef, { extension: 'system', status: 'error', message: why });
    }
    socket.close(code, why);
  };

  const leave = (topic: string): Joined | undefined => {
    const joined = channels.get(topic);
    channels.delete(topic);
    configs.delete(topic);
    joined?.channel.unscope();
    joined?.release();
    return joined;
  };

  const onFeedEnd = (topic: string, reason: FeedEnd | 'slow') => {
    if (reason === 'slow') return closeAll(WS_CLOSE.tryLater, 'Too slow');
    if (reason === 'stopped') return closeAll(WS_CLOSE.restart, 'Service restart');
    const { channel } = leave(topic) ?? {};
    if (!channel) return;
    system(topic, channel.joinRef, {
      extension: 'system',
      status: 'error',
      message: 'CURSOR_EXPIRED: the tasks were restored; read them anew',
    });
    send({ joinRef: channel.joinRef, ref: channel.joinRef, topic, event: 'phx_error', payload: {} });
  };

  /** Takes the user's place at this gateway and watches over the session. */
  const hold = (user: User): (() => void) | undefined => {
    const free = limits.takeUser(user.identity.userId);
    if (!free) return undefined;
    const unwatch = watch(user.claims, () => closeAll(WS_CLOSE.unauthorized, endOf(user.claims, parts.clock.now())));
    return () => {
      free();
      unwatch();
    };
  };

  const join = async (message: Message) => {
    const { topic, joinRef, payload } = message;
    const previous = leave(topic);
    if (previous) closeChannel(topic, previous.channel.joinRef);
    joining.set(topic, message);
    const isCurrent = () => joining.get(topic) === message && socket.readyState === socket.OPEN;
    const refuse = (reason: string, isFinal = false) => {
      joining.delete(topic);
      reply(message, 'error', { reason });
      if (isFinal) closeChannel(topic, joinRef);
    };
    if (channels.size >= parts.config.realtime.maxSubscriptions)
      return refuse('ChannelRateLimitReached: Too many channels');
    const config = isRecord(payload['config']) ? (payload['config'] as JoinConfig) : {};
    const bindings = bindingsOf(config.postgres_changes);
    if (bindings instanceof BindingError) return refuse(bindings.message, bindings.isFinal);

    const token = tokenOf(payload['user_token'] ?? payload['access_token'], apikey) ?? tokenOf(apikey, undefined);
    if (!token) return refuse('Unauthorized: access_token required');
    const caller = await parts.authenticateToken(token);
    if (!isCurrent()) return;
    const user = caller.kind === 'user' ? caller : await parts.authenticateToken(token, { graceS: GRACE_S });
    if (!isCurrent()) return;
    if (user.kind !== 'user') return refuse('InvalidJWTToken: The token provided is not valid');
    const isPending = caller.kind !== 'user';
    const release = isPending ? pending(topic) : hold(user);
    if (!release) {
      refuse('ConnectionRateLimitReached: Too many connections of this user');
      return socket.close(WS_CLOSE.tryLater, 'Too many connections');
    }

    const resume = isRecord(payload['resume']) ? payload['resume'] : undefined;
    const channel = new Channel({
      topic,
      joinRef,
      bindings,
      tellsCursor: resume !== undefined,
      feed,
      outlet: {
        version,
        write(text) {
          if (isTooFarBehind(socket)) return false;
          socket.send(text);
          return true;
        },
        drained: () => drainedSocket(socket),
      },
      onEnd: (reason) => onFeedEnd(topic, reason),
    });
    const since = typeof resume?.['since'] === 'string' ? resume['since'] : undefined;
    let isResumed = true;
    try {
      if (!isPending) isResumed = await scope(channel, user, since);
    } catch {
      release();
      if (isCurrent()) refuse('UnableToSubscribe: The service is not available right now');
      return;
    }
    if (!isCurrent()) {
      channel.unscope();
      return release();
    }
    joining.delete(topic);
    channels.set(topic, { channel, token, user, release });
    configs.set(topic, config);
    pendingSince.set(topic, since);

    reply(message, 'ok', { postgres_changes: bindings.map(({ asked, id }) => ({ ...asked, id })) });
    if (bindings.length > 0)
      system(topic, joinRef, { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL' });
    if (config.presence?.enabled === true || config.presence?.enabled === 'true')
      send({ joinRef, ref: null, topic, event: 'presence_state', payload: {} });
    if (!isResumed) system(topic, joinRef, { extension: 'resume', status: 'error', message: 'CURSOR_EXPIRED' });
    channel.open();
  };

  /** Where a channel that waits for a fresh token will begin. */
  const pendingSince = new Map<string, string | undefined>();

  /** A channel whose token just ran out: nothing is delivered until a fresh one comes, and not for long. */
  const pending = (topic: string): (() => void) => {
    const timer = setTimeout(() => {
      const { channel } = leave(topic) ?? {};
      if (channel)
        send({
          joinRef: channel.joinRef,
          ref: channel.joinRef,
          topic,
          event: 'phx_error',
          payload: { code: WS_CLOSE.unauthorized, reason: 'token expired' },
        });
    }, FRESH_TOKEN_WITHIN_MS);
    return () => clearTimeout(timer);
  };

  const refreshToken = async ({ topic, payload }: Message) => {
    const joined = channels.get(topic);
    const token = tokenOf(payload['access_token'], apikey);
    if (!joined || !token || token === joined.token) return;
    const caller = await parts.authenticateToken(token);
    if (channels.get(topic) !== joined) return;
    if (caller.kind !== 'user') {
      const isFading = (await parts.authenticateToken(token, { graceS: GRACE_S })).kind === 'user';
      if (isFading) return; // one that just ran out says nothing new; the present one is watched
      return closeAll(WS_CLOSE.unauthorized, 'The token provided is not valid');
    }
    const release = hold(caller);
    if (!release) return closeAll(WS_CLOSE.tryLater, 'Too many connections');
    const { channel, user } = joined;
    const wasPending = user.claims.exp * 1000 <= parts.clock.now();
    joined.release();
    channels.set(topic, { channel, token, user: caller, release });
    if (user.identity.userId === caller.identity.userId && !wasPending) return;
    // Nothing of the former user is delivered from this moment on.
    const since = user.identity.userId === caller.identity.userId ? pendingSince.get(topic) : undefined;
    try {
      const isResumed = await scope(channel, caller, since);
      if (!isResumed)
        system(topic, channel.joinRef, { extension: 'resume', status: 'error', message: 'CURSOR_EXPIRED' });
    } catch {
      closeAll(WS_CLOSE.tryLater, 'The service is not available right now');
    }
  };

  const broadcast = (message: Message) => {
    const { broadcast: wishes } = configs.get(message.topic) ?? {};
    // Nothing that one client sends reaches another: only its own echo, and the acknowledgement.
    if (wishes?.self === true) send({ ...message, ref: null, event: 'broadcast' });
    if (wishes?.ack === true) reply(message, 'ok', {});
  };

  const onMessage = async (message: Message) => {
    if (message.topic === 'phoenix' && message.event === 'heartbeat') return reply(message, 'ok', {});
    if (message.event === 'phx_join') {
      if (!/^realtime:./.test(message.topic))
        return reply(message, 'error', { reason: 'TopicNameRequired: You must provide a topic name' });
      return join(message);
    }
    const joined = channels.get(message.topic);
    if (message.event === 'phx_leave') {
      joining.delete(message.topic);
      leave(message.topic);
      reply(message, 'ok', {});
      return closeChannel(message.topic, joined?.channel.joinRef ?? message.joinRef);
    }
    if (!joined) return joining.has(message.topic) ? undefined : reply(message, 'error', { reason: 'unmatched topic' });
    // A message of an earlier join of the same topic; some clients leave the ref out.
    if (message.joinRef !== null && message.joinRef !== joined.channel.joinRef) return;
    switch (message.event) {
      case 'access_token':
        return refreshToken(message);
      case 'presence':
        return reply(message, 'ok', {});
      case 'broadcast':
        return broadcast(message);
    }
  };

  socket.on('message', (bytes, isBinary) => {
    lastHeardAt = parts.clock.now();
    if (!mayTalk()) return closeAll(WS_CLOSE.tryLater, 'Too many messages per second');
    const message = decode(version, bytes as Buffer, isBinary); // ws gives one Buffer, as it is not told otherwise
    if (!message) return;
    onMessage(message).catch((error: unknown) => {
      parts.log.error({ err: error }, 'a message of a channel failed');
      socket.close(1011, 'Internal error');
    });
  });
  const silence = setInterval(() => {
    if (parts.clock.now() - lastHeardAt > SILENCE_MS) socket.close(1000, 'heartbeat timeout');
  }, SILENCE_MS / 5);
  keepAlive(socket);
  socket.once('close', () => {
    clearInterval(silence);
    joining.clear();
    for (const topic of [...channels.keys()]) leave(topic);
  });
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

/** A user's token; undefined for what clients send in its place: nothing, a public key. */
function tokenOf(value: unknown, publicKey: string | undefined): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  if (value === publicKey && !looksLikeToken(value)) return undefined;
  return looksLikeToken(value) || publicKey !== undefined ? value : undefined;
}

/** Three parts: whether it counts is another question. */
function looksLikeToken(value: string): boolean {
  return value.split('.').length === 3;
}

function endOf({ exp }: AccessTokenClaims, nowMs: number): string {
  return exp * 1000 <= nowMs ? 'Token has expired' : 'The session has ended';
}

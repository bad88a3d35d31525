import type { Log } from '@taskmesh/service';
import { ReplyError } from 'ioredis';
import { createClient, createGiveUp, inTime } from './connection.ts';
import { messageOf } from './refusals.ts';
import type { RedisConfig } from './settings.ts';

export interface Listeners {
  /** Returns a function that removes this listener. */
  add(channel: string, onMessage: (message: string) => void): () => void;
  tell(channel: string, message: string): void;
  channels(): string[];
  has(channel: string): boolean;
  clear(): void;
}

export function createListeners(log: Log | undefined): Listeners {
  const byChannel = new Map<string, Set<{ onMessage: (message: string) => void }>>();

  return {
    add(channel, onMessage) {
      const listener = { onMessage }; // an object for each call, because the same function may listen twice
      const listeners = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byChannel.get(channel) === listeners) byChannel.delete(channel);
      };
    },
    tell(channel, message) {
      for (const { onMessage } of [...(byChannel.get(channel) ?? [])]) {
        try {
          onMessage(message);
        } catch (error) {
          log?.error({ err: error, channel }, 'a subscriber of the key-value store failed');
        }
      }
    },
    channels: () => [...byChannel.keys()],
    has: (channel) => byChannel.has(channel),
    clear: () => byChannel.clear(),
  };
}

/** This connection sends nothing else, so only the heartbeat detects that it has died silently. */
const HEARTBEAT_MS = 2_000;

export interface RedisSubscriptions {
  subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>>;
  close(): void;
}

/** Subscriptions need their own connection, as a subscribed one takes no other commands; the first one opens it. */
export function createRedisSubscriptions(options: RedisConfig & { log: Log }): RedisSubscriptions {
  const { log } = options;
  const redis = createClient(options);
  const giveUp = createGiveUp(redis);
  const listeners = createListeners(log);

  // Redis forgets a connection's channels, so every new connection subscribes to all of them.
  const listen = async (channels: string[]) => {
    if (channels.length === 0 || redis.status !== 'ready') return;
    await inTime(redis.subscribe(...channels)).catch(handleFailure);
  };
  const handleFailure = (error: unknown) => {
    if (error instanceof ReplyError) {
      log.warn({ reason: messageOf(error) }, 'Redis refuses a subscription');
      return;
    }
    log.debug({ reason: messageOf(error) }, 'the subscriptions in Redis need a new connection');
    giveUp();
  };

  redis.on('error', (error) =>
    log.debug({ reason: messageOf(error) }, 'the connection for subscriptions in Redis failed'),
  );
  redis.on('ready', () => void listen(listeners.channels()));
  redis.on('message', (channel, message) => listeners.tell(channel, message));

  const heartbeat = setInterval(() => {
    if (redis.status === 'ready') inTime(redis.ping()).catch(handleFailure);
  }, HEARTBEAT_MS).unref();

  let opening: Promise<unknown> | undefined;
  let closed = false;

  return {
    async subscribe(channel, onMessage) {
      if (closed) return async () => undefined;
      const remove = listeners.add(channel, onMessage);
      await (opening ??= inTime(redis.connect()).catch(() => undefined));
      await listen([channel]);
      return async () => {
        remove();
        if (!listeners.has(channel) && redis.status === 'ready')
          await inTime(redis.unsubscribe(channel)).catch(handleFailure);
      };
    },
    close() {
      closed = true;
      clearInterval(heartbeat);
      listeners.clear();
      redis.disconnect();
    },
  };
}

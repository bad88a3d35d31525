import type { Log } from '@taskmesh/service';
import { ReplyError } from 'ioredis';
import { createListeners } from '../listeners.ts';
import { createClient, createGiveUp, inTime } from './client.ts';
import { messageOf } from './refusal.ts';
import type { RedisConfig } from './settings.ts';

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

import { createRedisConnection } from './connection.ts';
import type { KeyValue } from './key-value.ts';
import { createMemoryLimiters, createRedisLimiter } from './limiters.ts';
import type { RedisKeyValueOptions } from './settings.ts';
import { createRedisSubscriptions } from './subscriptions.ts';

/**
 * The key-value store in Redis. Connects in the background and retries without end. While Redis is gone, frozen or slow,
 * calls return what KeyValue promises after at most 200 ms, and immediately after several failures in a row.
 */
export function createRedisKeyValue(options: RedisKeyValueOptions): KeyValue {
  const { prefix = 'taskmesh:' } = options;
  const connection = createRedisConnection(options);
  const subscriptions = createRedisSubscriptions(options);
  const own = createMemoryLimiters();
  const { redis, attempt } = connection;

  return {
    system: 'redis',
    get: (key) => attempt(() => redis.get(prefix + key), null),
    async set(key, value, { ttlSeconds }) {
      const ttlMs = Math.round(ttlSeconds * 1_000);
      await attempt<unknown, null>(
        () => (ttlMs > 0 ? redis.set(prefix + key, value, 'PX', ttlMs) : redis.del(prefix + key)),
        null,
      );
    },
    async publish(channel, message) {
      await attempt(() => redis.publish(prefix + channel, message), null);
    },
    subscribe: (channel, onMessage) => subscriptions.subscribe(prefix + channel, onMessage),
    limiter: (limit) =>
      createRedisLimiter(connection, { ...limit, name: `${prefix}limit:${limit.name}`, own: own(limit) }),
    isUp: connection.isUp,
    async close() {
      subscriptions.close();
      connection.close();
    },
  };
}

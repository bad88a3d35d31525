import { createRedisConnection, type RedisConnectionOptions } from './connection.ts';
import type { KeyValue } from './key-value.ts';
import { createMemoryLimiters, createRedisLimiter } from './limiters.ts';

/** The prefix of all keys. */
const PREFIX = 'taskmesh:';

/**
 * The key-value store in Redis. Connects in the background and retries forever. While Redis is down, frozen or slow, calls
 * return what KeyValue promises within 200 ms, and at once after several consecutive failures.
 */
export function createRedisKeyValue(options: RedisConnectionOptions): KeyValue {
  const connection = createRedisConnection(options);
  const own = createMemoryLimiters();
  const { redis, attempt } = connection;

  return {
    system: 'redis',
    get: (key) => attempt(() => redis.get(PREFIX + key), null),
    async set(key, value, { ttlSeconds }) {
      const ttlMs = Math.round(ttlSeconds * 1_000);
      await attempt<unknown, null>(
        () => (ttlMs > 0 ? redis.set(PREFIX + key, value, 'PX', ttlMs) : redis.del(PREFIX + key)),
        null,
        ttlMs > 0, // a full Redis still deletes
      );
    },
    limiter: (limit) =>
      createRedisLimiter(connection, { ...limit, name: `${PREFIX}limit:${limit.name}`, own: own(limit) }),
    isUp: connection.isUp,
    close: async () => connection.close(),
  };
}

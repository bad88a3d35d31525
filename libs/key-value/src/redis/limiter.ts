import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Limiter, LimiterOptions } from '../key-value.ts';
import { look, take } from '../limiter-result.ts';
import type { RedisConnection } from './connection.ts';

export interface RedisLimiterOptions extends LimiterOptions {
  /** Counts what this process takes. */
  own: Limiter;
}

/** Counts in Redis, and also what this process took, so that an outage of Redis gives nobody a fresh set of points. */
export function createRedisLimiter({ redis, attempt }: RedisConnection, options: RedisLimiterOptions): Limiter {
  const { name, points, windowSeconds, own } = options;
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: name,
    points,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
  });

  return {
    async consume(key) {
      const [sharedResult, ownResult] = await Promise.all([
        attempt(() => take(shared, key, points), null),
        own.consume(key),
      ]);
      return sharedResult ?? ownResult;
    },
    async peek(key) {
      return (await attempt(() => look(shared, key, points), null)) ?? own.peek(key);
    },
    async reset(key) {
      await Promise.all([attempt(() => shared.delete(key), false), own.reset(key)]);
    },
  };
}

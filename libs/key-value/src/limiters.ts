import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Limiter, LimiterOptions, LimiterResult } from './key-value.ts';
import type { RedisConnection } from './connection.ts';

/** Consumes one point. Rejects only when the store fails: the library's rejection for "used up" becomes a result. */
async function consume(limiter: RateLimiterAbstract, key: string, points: number): Promise<LimiterResult> {
  const counted = await limiter.consume(key).catch((error: unknown) => {
    if (error instanceof RateLimiterRes) return error;
    throw error;
  });
  return { allowed: counted.consumedPoints <= points, retryAfterSeconds: wholeSeconds(counted) };
}

async function peek(limiter: RateLimiterAbstract, key: string, points: number): Promise<LimiterResult> {
  const counted = await limiter.get(key);
  if (!counted || counted.msBeforeNext <= 0) return { allowed: true, retryAfterSeconds: 0 };
  return { allowed: counted.consumedPoints < points, retryAfterSeconds: wholeSeconds(counted) };
}

function wholeSeconds({ msBeforeNext }: RateLimiterRes): number {
  return Math.ceil(Math.max(msBeforeNext, 0) / 1_000);
}

/** Limiters of one name share their counts but have their own limits; the first one determines the window's length. */
export function createMemoryLimiters(): (options: LimiterOptions) => Limiter {
  const counters = new Map<string, RateLimiterMemory>();

  const counterOf = ({ name, points, windowSeconds }: LimiterOptions): RateLimiterMemory => {
    const known = counters.get(name);
    if (known) return known;
    const fresh = new RateLimiterMemory({ keyPrefix: name, points, duration: windowSeconds });
    counters.set(name, fresh);
    return fresh;
  };

  return (options) => {
    const { points } = options;
    const counter = counterOf(options);
    return {
      consume: (key) => consume(counter, key, points),
      peek: (key) => peek(counter, key, points),
      reset: async (key) => {
        await counter.delete(key);
      },
    };
  };
}

export interface RedisLimiterOptions extends LimiterOptions {
  /** Counts the points that this process consumes. */
  own: Limiter;
}

/** Counts in Redis, and also in this process, so that an outage of Redis does not give callers all points again. */
export function createRedisLimiter({ redis, attempt }: RedisConnection, options: RedisLimiterOptions): Limiter {
  const { name, points, windowSeconds, own } = options;
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: name,
    points,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
  });
  /** Whether Redis counted the last point. A Redis that refuses writes may still respond to reads, with outdated counts. */
  let isCounted = true;

  return {
    async consume(key) {
      const [sharedResult, ownResult] = await Promise.all([
        attempt(() => consume(shared, key, points), null, true),
        own.consume(key),
      ]);
      isCounted = sharedResult !== null;
      return sharedResult ?? ownResult;
    },
    async peek(key) {
      const sharedResult = await attempt(() => peek(shared, key, points), null);
      return sharedResult && (isCounted || !sharedResult.allowed) ? sharedResult : own.peek(key);
    },
    async reset(key) {
      await Promise.all([attempt(() => shared.delete(key), false), own.reset(key)]);
    },
  };
}

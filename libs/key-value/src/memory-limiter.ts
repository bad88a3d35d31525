import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Limiter, LimiterOptions } from './key-value.ts';
import { look, take } from './limiter-result.ts';

export function createMemoryLimiter({ name, points, windowSeconds }: LimiterOptions): Limiter {
  const limiter = new RateLimiterMemory({ keyPrefix: name, points, duration: windowSeconds });
  return {
    consume: (key) => take(limiter, key),
    peek: (key) => look(limiter, key),
    reset: async (key) => {
      await limiter.delete(key);
    },
  };
}

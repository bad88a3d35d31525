import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Limiter, LimiterOptions } from './key-value.ts';
import { look, take } from './limiter-result.ts';

/** Limiters of one name count together, each by its own points; the first one decides how long a window is. */
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
      consume: (key) => take(counter, key, points),
      peek: (key) => look(counter, key, points),
      reset: async (key) => {
        await counter.delete(key);
      },
    };
  };
}

import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { LimiterResult } from './key-value.ts';

/** Takes one point. Rejects only when the store fails: the library's rejection for "used up" is an answer here. */
export async function take(limiter: RateLimiterAbstract, key: string, points: number): Promise<LimiterResult> {
  const counted = await limiter.consume(key).catch((error: unknown) => {
    if (error instanceof RateLimiterRes) return error;
    throw error;
  });
  return { allowed: counted.consumedPoints <= points, retryAfterSeconds: wholeSeconds(counted) };
}

export async function look(limiter: RateLimiterAbstract, key: string, points: number): Promise<LimiterResult> {
  const counted = await limiter.get(key);
  if (!counted || counted.msBeforeNext <= 0) return { allowed: true, retryAfterSeconds: 0 };
  return { allowed: counted.consumedPoints < points, retryAfterSeconds: wholeSeconds(counted) };
}

function wholeSeconds({ msBeforeNext }: RateLimiterRes): number {
  return Math.ceil(Math.max(msBeforeNext, 0) / 1_000);
}

import type { Log } from '@taskmesh/service';
import type { KeyValue } from './key-value.ts';
import { createMemoryKeyValue } from './memory.ts';
import { createRedisKeyValue } from './redis.ts';
import type { RedisConfig } from './settings.ts';

export type { KeyValue, Limiter, LimiterOptions, LimiterResult } from './key-value.ts';
export { createMemoryKeyValue } from './memory.ts';
export { findRedisProblem } from './connection.ts';
export { createRedisKeyValue } from './redis.ts';
export { readRedisSettings, type RedisConfig } from './settings.ts';

/** Opens the process's key-value store, in memory if Redis is not configured. The caller closes it. */
export function openKeyValue(redis: RedisConfig | undefined, log: Log): KeyValue {
  return redis ? createRedisKeyValue({ ...redis, log }) : createMemoryKeyValue();
}

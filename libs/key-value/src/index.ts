export type { KeyValue, Limiter, LimiterOptions, LimiterResult } from './key-value.ts';
export { createMemoryKeyValue } from './memory.ts';
export { readRedisSettings, type RedisConfig } from './redis/settings.ts';
export { whyRedisFails } from './redis/why-redis-fails.ts';
export { createRedisKeyValue } from './redis.ts';

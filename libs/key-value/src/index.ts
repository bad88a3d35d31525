export type { KeyValue, Limiter, LimiterOptions, LimiterResult } from './key-value.ts';
export { createMemoryKeyValue } from './memory.ts';
export { createRedisKeyValue } from './redis.ts';

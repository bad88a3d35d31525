import { withDeadline, type Refusal } from '@taskmesh/service';
import type { Redis } from 'ioredis';
import { createClient } from './client.ts';
import { isReplica, READ_ONLY, refusalOf } from './refusal.ts';
import type { RedisConfig } from './settings.ts';

const TIMEOUT_MS = 3_000;

/** A user of Redis may lack the right to ask for its role. */
async function connectAndAsk(redis: Redis): Promise<boolean> {
  await redis.connect();
  await redis.ping();
  return isReplica(redis).catch(() => false);
}

/** Tries to connect once; undefined when Redis answers. */
export async function whyRedisFails(config: RedisConfig): Promise<Refusal | undefined> {
  const redis = createClient(config);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  redis.once('error', reject);
  redis.once('close', () => reject(new Error('the connection is closed')));
  const answered = Promise.race([failed, connectAndAsk(redis)]);
  try {
    const cannotWrite = await withDeadline(answered, TIMEOUT_MS, () => new Error('no answer in time'));
    return cannotWrite ? refusalOf(new Error(READ_ONLY)) : undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    redis.on('error', () => undefined);
    redis.disconnect();
  }
}

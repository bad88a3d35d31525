import type { Refusal } from '@taskmesh/service';
import { createClient } from './client.ts';
import { refusalOf } from './refusal.ts';
import type { RedisConfig } from './settings.ts';

const TIMEOUT_MS = 3_000;

/** Tries to connect once; undefined when Redis answers. */
export async function whyRedisFails(config: RedisConfig): Promise<Refusal | undefined> {
  const redis = createClient({ ...config, random: () => 0 });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  redis.once('error', reject);
  redis.once('close', () => reject(new Error('the connection is closed')));
  const late = setTimeout(() => reject(new Error('no answer in time')), TIMEOUT_MS);
  try {
    await Promise.race([redis.connect().then(() => redis.ping()), failed]);
    return undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    clearTimeout(late);
    redis.on('error', () => undefined);
    redis.disconnect();
  }
}

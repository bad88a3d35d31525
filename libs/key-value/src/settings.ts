import { readEnv, refuseRemovedSettings, setting, extractTlsFiles, type Env, type TlsFiles } from '@taskmesh/service';
import { z } from 'zod';

export interface RedisConfig {
  /** `redis://` or `rediss://`, optionally with user, password and database number. */
  url: string;
  /** For `rediss://`: replaces Node's trusted certificates. */
  tls?: TlsFiles | undefined;
}

const schema = z.object({
  REDIS_URL: setting.url('redis:', 'rediss:').optional(),
});

/** Returns undefined when Redis is not configured. @throws ConfigError with every problem */
export function readRedisSettings(env: Env): RedisConfig | undefined {
  refuseRemovedSettings(env, 'REDIS_');
  const { REDIS_URL } = readEnv(schema, env);
  if (!REDIS_URL) return undefined;
  const url = new URL(REDIS_URL);
  const missingProtocol = url.protocol !== 'rediss:' && 'rediss:';
  const tls = extractTlsFiles(url.searchParams, { setting: 'REDIS_URL', missingProtocol });
  return { url: url.href, tls };
}

import { readAll, readEnv, readTlsFiles, setting, type Env, type TlsFiles } from '@taskmesh/service';
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
const TLS_FILES = { ca: 'REDIS_TLS_CA_FILE', cert: 'REDIS_TLS_CERT_FILE', key: 'REDIS_TLS_KEY_FILE' } as const;

/** Undefined when Redis is not configured. @throws ConfigError with every problem */
export function readRedisSettings(env: Env): RedisConfig | undefined {
  const { values, tls } = readAll({ values: () => readEnv(schema, env), tls: () => readTlsFiles(env, TLS_FILES) });
  return values.REDIS_URL ? { url: values.REDIS_URL, tls } : undefined;
}

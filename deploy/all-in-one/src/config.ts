import { readAuthConfig } from '@taskmesh/auth';
import { readBackupConfig } from '@taskmesh/backup';
import { readGatewayConfig } from '@taskmesh/gateway';
import { readRedisSettings } from '@taskmesh/key-value';
import { databasePrefix, databaseUrl, localUrl, serviceDatabase, type InnerService } from '@taskmesh/local';
import { readKafkaSettings } from '@taskmesh/service/event-log';
import { readAll, readEnv, readTelemetry, setting, withoutEmpty, type Env } from '@taskmesh/service';
import { readTasksConfig } from '@taskmesh/tasks';
import { resolve } from 'node:path';
import { z } from 'zod';

const settings = z.object({
  DATA_DIR: setting.text().default('.data'),
  POSTGRES_URL: setting.url('postgres:', 'postgresql:').optional(),
  DATABASE_PREFIX: databasePrefix(),
});

export type PlatformConfig = ReturnType<typeof readPlatformConfig>;

/** A placeholder until the server is started, so that all other problems are reported before that. */
const NOT_STARTED = 'postgres://not-started.invalid/postgres';

/** @throws ConfigError with the problems of all services */
export function readEmbeddedSettings(env: Env) {
  const { own, ...others } = readAll({
    own: () => readEnv(settings, env),
    /** If undefined, shared state stays within the process. */
    redis: () => readRedisSettings(env),
    /** If undefined, the event log stays within the process. */
    kafka: () => readKafkaSettings(env),
    traces: () => readTelemetry(env),
    /** Preliminary: PostgreSQL may not be running yet. */
    platform: () =>
      readPlatformConfig(env, env.POSTGRES_URL && URL.canParse(env.POSTGRES_URL) ? env.POSTGRES_URL : NOT_STARTED),
  });
  /** `postgresUrl` is a server to use instead of our own; the services' databases are created on it. */
  return { dataDir: resolve(own.DATA_DIR), postgresUrl: own.POSTGRES_URL, ...others };
}

/** Reads every service's configuration from one environment; each has its own database on one server. */
export function readPlatformConfig(environment: Env, postgresUrl: string) {
  const env = withoutEmpty(environment);
  const database = (service: InnerService) => databaseUrl(postgresUrl, serviceDatabase(service, env.DATABASE_PREFIX));
  const shared = { ...env, PUBLIC_URL: env.PUBLIC_URL ?? defaultPublicUrl(env) };
  return readAll({
    auth: () => readAuthConfig({ ...shared, POSTGRES_URL: database('auth') }),
    tasks: () => readTasksConfig({ ...shared, POSTGRES_URL: database('tasks') }),
    backup: () =>
      readBackupConfig({
        ...shared,
        POSTGRES_URL: database('backup'),
        TASKS_ADMIN_URL: env.TASKS_ADMIN_URL ?? database('tasks'),
        AUTH_ADMIN_URL: env.AUTH_ADMIN_URL ?? database('auth'),
      }),
    gateway: () => readGatewayConfig(shared),
  });
}

/** Returns undefined if PORT or HOST is invalid, which is reported under its own name. */
function defaultPublicUrl({ HOST = '127.0.0.1', PORT = '4000' }: Env): string | undefined {
  const url = localUrl(HOST, PORT);
  return URL.canParse(url) ? url : undefined;
}

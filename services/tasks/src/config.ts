import { readSchemaPolicy } from '@taskmesh/store';
import { type Backoff, type Env, readAll, readEnv, setting } from '@taskmesh/service';
import { z } from 'zod';

export const RELAY_BACKOFF: Backoff = { firstMs: 50, maxMs: 2_000 };

export type TasksConfig = ReturnType<typeof readTasksConfig>;

const HOUR_MS = 3_600_000;
const YEAR_H = 8_784;
const MAX_COUNT = 2 ** 31 - 1;

const settings = z.object({
  POSTGRES_URL: setting.url('postgres:', 'postgresql:'),
  CHANGE_RETENTION_HOURS: setting.number(0, 10 * YEAR_H).default(168),
  MAX_TASKS_PER_OWNER: setting.int(0, MAX_COUNT).default(50_000),
});

/** @throws ConfigError with every problem */
export function readTasksConfig(env: Env) {
  const { values, schema } = readAll({
    values: () => readEnv(settings, env),
    schema: () => readSchemaPolicy(env),
  });
  return {
    postgresUrl: values.POSTGRES_URL,
    /** Maximum number of connections, besides the relay's own. */
    poolSize: 10,
    /** How long published changes are kept for clients that reconnect. */
    changeRetentionMs: values.CHANGE_RETENTION_HOURS * HOUR_MS,
    /** Used while the event log does not accept records. */
    relay: RELAY_BACKOFF,
    schema,
    /** Creating more tasks is rejected. 0: unlimited. */
    maxTasksPerOwner: values.MAX_TASKS_PER_OWNER,
  };
}

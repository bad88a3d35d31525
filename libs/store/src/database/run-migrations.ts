import { AppError } from '@taskmesh/contracts';
import { ConfigError, createLog, processSettings, readAll, readEnv, setting, type Env } from '@taskmesh/service';
import { z } from 'zod';
import type { Database, StoreOptions } from './database.ts';
import { readSchemaPolicy, whyUnfit } from './schema-gate.ts';
import { refusalOf } from './why-postgres-fails.ts';

const settings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  POSTGRES_URL: setting.url('postgres:', 'postgresql:'),
});

/** The main function of a process that migrates one service's schema: exits with 0 on success, otherwise with 1. */
export async function runMigrations(
  service: string,
  open: (options: StoreOptions) => Promise<Database>,
  env: Env,
): Promise<never> {
  try {
    const { own, policy } = readAll({
      own: () => readEnv(settings, env),
      policy: () => readSchemaPolicy(env),
    });
    const log = createLog({ service: `${service}-migrations`, level: own.LOG_LEVEL });
    const database = await open({ url: own.POSTGRES_URL, log });
    await database.migrate();
    const problem = whyUnfit(await database.schemaState(), policy);
    if (problem !== undefined) throw new ConfigError([problem]);
    log.info('the schema is up to date');
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(1);
  }
}

/** The message of an AppError is for clients; its cause says why the server is unavailable. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof AppError && error.cause) return `PostgreSQL ${refusalOf(error.cause).reason}`;
  return String(error);
}

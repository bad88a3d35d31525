import {
  createTimedQuery,
  ConfigError,
  createLog,
  processSettings,
  readAll,
  readEnv,
  readVersion,
  setting,
  type Clock,
  type Env,
  type HealthReport,
  type Log,
} from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { AppError } from '@taskmesh/contracts';
import type { Database, SchemaState, StoreOptions } from './database.ts';
import { refusalOf } from './postgres-problems.ts';

export type SchemaPolicy = ReturnType<typeof readSchemaPolicy>;

const CHECK_EVERY_MS = 1_000;

const settings = z.object({
  MIGRATE_AT_START: setting.flag().default(true),
  NEWER_SCHEMA: setting.oneOf(['refuse', 'allow']).default('refuse'),
});

/** @throws ConfigError */
export function readSchemaPolicy(env: Env) {
  const values = readEnv(settings, env);
  return {
    /** Whether the service migrates its own schema; otherwise it waits for the migration. */
    migrates: values.MIGRATE_AT_START,
    acceptsNewer: values.NEWER_SCHEMA === 'allow',
  };
}

/** Returns why this version cannot run on the schema; undefined if it can. */
function findSchemaProblem({ missing, unknown }: SchemaState, { acceptsNewer }: SchemaPolicy): string | undefined {
  if (unknown.length > 0 && !acceptsNewer)
    return `The database is of a newer version, with ${unknown.join(', ')}: run that one, or set NEWER_SCHEMA=allow`;
  return missing.length > 0 ? `The database lacks ${missing.join(', ')}: it has to be migrated` : undefined;
}

/** @throws ConfigError when the schema is still unfit afterwards */
async function migrate(
  database: Pick<Database, 'migrate' | 'schemaState'>,
  policy: SchemaPolicy,
  signal?: AbortSignal,
): Promise<void> {
  await database.migrate({ signal });
  const problem = findSchemaProblem(await database.schemaState(), policy);
  if (problem !== undefined) throw new ConfigError([problem]);
}

export type SchemaGate = ReturnType<typeof createSchemaGate>;

/** `start` resolves once the service may use the database. */
export function createSchemaGate(deps: {
  database: Pick<Database, 'migrate' | 'schemaState'>;
  policy: SchemaPolicy;
  log: Log;
}) {
  const { database, policy, log } = deps;
  const stopped = new AbortController();
  let open = false;

  const wait = async () => {
    let logged: string | undefined;
    for (;;) {
      const problem = await database.schemaState().then(
        (state) => findSchemaProblem(state, policy),
        (error: unknown) => {
          if (error instanceof ConfigError) throw error; // waiting does not help
          return `PostgreSQL ${refusalOf(error).reason}`;
        },
      );
      if (problem === undefined) return;
      if (problem !== logged) log.warn({ reason: problem }, 'not ready: waiting for the schema');
      logged = problem;
      await sleep(CHECK_EVERY_MS, undefined, { signal: stopped.signal });
    }
  };

  return {
    async start() {
      await (policy.migrates ? migrate(database, policy, stopped.signal) : wait());
      open = true;
    },
    stop: async () => stopped.abort(),
    /** Whether the schema was found fit. Stays true when a newer version migrates, because migrations must be compatible. */
    isOpen: () => open,
  };
}

/** A service is ready when its database responds and has a fit schema; `more` is added to the report. */
export async function storeHealth(
  database: Pick<Database, 'isUp'>,
  schema: SchemaGate,
  more: HealthReport['checks'] = {},
): Promise<HealthReport> {
  const isUp = await database.isUp();
  const isFit = schema.isOpen();
  return { ok: isUp && isFit, checks: { database: isUp, schema: isFit, ...more } };
}

const UNKNOWN_STORE = { isUp: false, schema: null, missing: [], unknown: [] };

/**
 * Reports the version of a service and the state of its store to operators within `withinMs`. Runs at most one query at a time,
 * even if the database does not respond.
 */
export function createServiceStatus(
  { database, clock }: { database: Pick<Database, 'schemaState' | 'versions'>; clock: Clock },
  withinMs: number,
) {
  const startedAt = new Date(clock.now()).toISOString();
  const query = createTimedQuery(withinMs, async () => {
    const { missing, unknown } = await database.schemaState();
    const applied = [...database.versions.filter((version) => !missing.includes(version)), ...unknown];
    return { isUp: true, schema: applied.at(-1) ?? null, missing, unknown };
  });
  return async () => ({ version: readVersion(), startedAt, store: (await query()) ?? UNKNOWN_STORE });
}

const migrationSettings = z.object({
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
      own: () => readEnv(migrationSettings, env),
      policy: () => readSchemaPolicy(env),
    });
    const log = createLog({ service: `${service}-migrations`, level: own.LOG_LEVEL });
    const database = await open({ url: own.POSTGRES_URL, log });
    await migrate(database, policy);
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

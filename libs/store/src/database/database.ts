import type { EntityManager, MigrationObject } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM, type PostgreSqlDriver } from '@mikro-orm/postgresql';
import { unavailable } from '@taskmesh/contracts';
import { ConfigError, createBulkhead, createFairQueue, inSpan, withDeadline, type Log } from '@taskmesh/service';
import { Pool, type QueryResultRow } from 'pg';
import type { Registry } from 'prom-client';
import { connectionConfig, type Settings } from './connection.ts';
import { retryWhileUnavailable, type RetryOptions } from './failures.ts';
import { migrate, MIGRATION_CONNECTIONS, type MigrateLimits, type Orm } from './migrate.ts';
import { createStatementMetrics, createStatementSpans, measurePool, type ObserveStatement } from './observe.ts';
import { runPrepared, type Statement } from './prepared-query.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import { watchConnections } from './watch-connections.ts';
import { findDatabaseProblem } from './postgres-problems.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;
const IS_UP_MS = 1_000;
/** Startup must not fail on a busy machine because the server responds slowly. */
const PROBE_MS = 5_000;
/** How long a connection may be silent, in addition to the time that a statement may take. */
const SILENCE_MS = 1_000;
/** The same as a statement's timeout. */
const MAX_QUEUE_WAIT_MS = 5_000;
/** The share of the pool that one owner's statements may occupy, so that slow or waiting ones leave connections for others. */
const OWNER_SHARE = 0.4;
/** The share that long statements of all owners together may occupy. */
const LONG_SHARE = 0.5;
const MAX_LONG_WAITING = 1_000;
/**
 * With the one that runs, as many as gateways run at once for two sessions. Each that waits holds a connection of a gateway,
 * which few accounts must not use up.
 */
const MAX_OWNER_LONG_WAITING = 11;
/** Opening a connection delays a request, so idle connections are kept much longer than the driver's default of 10 s. */
const IDLE_MS = 600_000;

/**
 * A prepared statement keeps its plan until its tables are analysed. If it was planned while a table was empty, it would scan the
 * whole table, even when the table has grown. Migrations and restores, which plan for the existing data, do not use this.
 *
 * Before PostgreSQL 18, an unavoidable scan (for example, of a table with one row) then seems so expensive that the
 * server JIT-compiles the statement each time, which takes hundreds of milliseconds.
 */
const STABLE_PLAN_SETTINGS = { enable_seqscan: 'off', jit: 'off' };

type Entities = NonNullable<Parameters<typeof defineConfig>[0]['entities']>;

interface Connections {
  pool: Parameters<typeof defineConfig>[0]['pool'];
  settings?: Settings;
  /** 0 means no limit. */
  statementTimeoutMs: number;
  /** A connection that stays silent for this long is closed. */
  silenceMs: number;
}

export interface StoreOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** Distinguishes several ORMs in one process. @default the service's name */
  name?: string;
  /** Maximum number of connections. @default 10 */
  poolSize?: number;
  log: Log;
}

export interface DatabaseOptions extends StoreOptions {
  name: string;
  entities: Entities;
  /** In order, each with its name. Imported statically, so that bundles include them. */
  migrations: MigrationObject[];
  /** Applied in the pool and in sessions, e.g. `{ plan_cache_mode: 'force_generic_plan' }`. */
  settings?: Settings;
  /** How long a statement of a request may take. @default 5_000 */
  statementTimeoutMs?: number;
}

export interface SchemaState {
  /** Migrations of this version that are not applied. */
  missing: string[];
  /** Migrations that a newer version has applied. */
  unknown: string[];
}

export interface Database {
  /** Waits for the server and brings the schema up to date. Several instances may call it at once. */
  migrate(options?: MigrateLimits): Promise<void>;
  /** The names of all migrations, oldest first: a schema's version is the last one applied. */
  readonly versions: readonly string[];
  /**
   * Compares the schema with this version's migrations. Needs only read access. Rejects when the server does not respond.
   * @throws ConfigError when the server is too old, or behind a pooler that does not keep sessions
   */
  schemaState(): Promise<SchemaState>;
  /**
   * Runs `work` in its own unit of work, and repeats it while the database is briefly unavailable: it must be safe to repeat.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  retry<Result>(work: (em: EntityManager<PostgreSqlDriver>) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` atomically. Repeats it only if the database was unavailable and certainly changed nothing. Transactions with the same
   * `turn`, because they lock the same row, run one after the other, so that they occupy no connections while they wait.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  inTransaction<Result>(work: (em: EntityManager<PostgreSqlDriver>) => Promise<Result>, turn?: string): Promise<Result>;
  /**
   * Runs a prepared statement directly on the pool, for hot paths. Parameters are bound, never interpolated. With `ownerId`, limits
   * how many of the owner's statements run at once. With `longFor`, a network from `networkOf`, the statement takes long: only one
   * of its owner runs at once, a few wait, few of all owners run, and networks take turns.
   * @throws AppError SERVICE_UNAVAILABLE, also when earlier statements of the owner take too long, or too many wait
   */
  run<Row extends QueryResultRow>(
    kind: RetryOptions['kind'],
    statement: Statement,
    values: unknown[],
    ownerId?: string,
    longFor?: string,
  ): Promise<Row[]>;
  /** A connection outside the pool, for locks and notifications. The caller closes it. */
  openSession(options?: Pick<SessionOptions, 'settings' | 'timeoutMs'>): Promise<Session>;
  readonly pool: Pool;
  /** Adds metrics of the pool's use and its statements' durations. Migrations have a pool of their own. */
  measure(registry: Registry): void;
  /** Whether the server responds to a trivial statement within a second, however busy the pool is. */
  isUp(): Promise<boolean>;
  close(): Promise<void>;
}

/** Does not connect yet; the first statement does. */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const { name, url, entities, migrations, poolSize = 10, settings = {}, log } = options;
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const spans = createStatementSpans(url);
  const sessionSettings = { ...STABLE_PLAN_SETTINGS, ...settings };
  let observe: ObserveStatement | undefined;
  const openOrm = async (
    { pool, settings: extra, statementTimeoutMs: timeoutMs, silenceMs }: Connections,
    onResponse: ObserveStatement = ignore,
  ) => {
    const orm = await MikroORM.init(
      defineConfig({
        contextName: name,
        clientUrl: url,
        entities,
        extensions: [Migrator],
        allowGlobalContext: false,
        ensureDatabase: false,
        forceUtcTimezone: true,
        timezone: 'UTC',
        discovery: { checkDuplicateTableNames: true },
        pool,
        driverOptions: {
          // Includes the URL, because the ORM would drop its parameters, such as those for TLS.
          ...connectionConfig({
            ...{ url, name: `taskmesh-${name}`, connectTimeoutMs: CONNECT_TIMEOUT_MS },
            settings: {
              statement_timeout: String(timeoutMs),
              idle_in_transaction_session_timeout: '10s',
              ...extra,
            },
          }),
        },
        migrations: {
          migrationsList: migrations,
          snapshot: false,
          transactional: true,
          allOrNothing: true,
          silent: true,
        },
        logger: (message) => log.debug({ message }, 'orm'),
      }),
    );
    const connections = await poolOf(orm);
    watchConnections(connections, { silenceMs, spanOf: spans.unnamed, observe: onResponse });
    // When the server ends an idle connection, the pool emits an error, which would end the process without a listener.
    // The driver attaches the whole connection to that error, so only its message is logged.
    connections.on('error', (error) => log.warn({ reason: error.message }, 'database connection lost'));
    return { orm, pool: connections };
  };
  const { orm, pool } = await openOrm(
    {
      pool: { min: 0, max: poolSize, idleTimeoutMillis: IDLE_MS },
      settings: sessionSettings,
      statementTimeoutMs,
      silenceMs: statementTimeoutMs + SILENCE_MS,
    },
    (...onResponse) => observe?.(...onResponse),
  );
  /** For checks of the server, which must not wait for the main pool, because requests may use it up. */
  const probe = new Pool({
    ...connectionConfig({ url, name: `taskmesh-${name}-probe`, connectTimeoutMs: PROBE_MS }),
    ...{ max: 2, idleTimeoutMillis: IDLE_MS, query_timeout: PROBE_MS },
  });
  probe.on('error', (error) => log.debug({ reason: error.message }, 'database connection lost'));
  const limits = {
    maxWaitMs: MAX_QUEUE_WAIT_MS,
    refusal: () => unavailable('Earlier requests are still running; try again.'),
  };
  const limited = (concurrency: number) => createBulkhead({ concurrency, ...limits });
  const serialized = limited(1);
  const owners = limited(Math.ceil(poolSize * OWNER_SHARE));
  // Apart, because these also wait for those of other owners.
  const ownersLong = createBulkhead({ concurrency: 1, maxWaiting: MAX_OWNER_LONG_WAITING, ...limits });
  const long = createFairQueue({
    ...{ concurrency: Math.ceil(poolSize * LONG_SHARE), maxWaiting: MAX_LONG_WAITING, ...limits },
  });
  /**
   * The ORM never closes the pools: its query builder would lose a connection that is being opened at that time, and the
   * pool would then never end.
   */
  let closing: Promise<unknown> | undefined;
  let isFit = false;
  /** @throws ConfigError */
  const refuseUnfit = async () => {
    if (isFit) return;
    const refusal = await findDatabaseProblem(url, `taskmesh-${name}-probe`, true);
    if (refusal) throw new ConfigError([`PostgreSQL ${refusal.reason}`]);
    isFit = true;
  };

  return {
    versions: migrations.map((migration) => migration.name),
    async migrate(migrateLimits) {
      const migrating = await openOrm(MIGRATION_CONNECTIONS);
      const { signal } = migrateLimits ?? {};
      migrating.pool.on('connect', ({ connection }) => {
        const end = () => connection.stream.destroy();
        if (signal?.aborted) end();
        else signal?.addEventListener('abort', end);
      });
      try {
        await migrate(migrating.orm, { refuseUnfit, log, ...migrateLimits });
      } finally {
        await migrating.pool.end();
      }
    },
    async schemaState() {
      await refuseUnfit();
      const applied = await appliedMigrations(probe);
      const known = migrations.map(({ name: known }) => known);
      return {
        missing: known.filter((each) => !applied.includes(each)),
        unknown: applied.filter((each) => !known.includes(each)),
      };
    },
    retry: (work) => retryWhileUnavailable({ kind: 'read' }, () => work(orm.em.fork())),
    inTransaction(work, serialKey) {
      const run = () => retryWhileUnavailable({ kind: 'write' }, () => orm.em.fork().transactional(work));
      return serialKey === undefined ? run() : serialized.run(serialKey, run);
    },
    run<Row extends QueryResultRow>(...[kind, statement, values, ownerId, longFor]: Parameters<Database['run']>) {
      const run = () =>
        inSpan(
          () => spans.named(statement),
          () => retryWhileUnavailable({ kind }, () => runPrepared<Row>(pool, statement, values)),
        );
      if (ownerId === undefined) return run();
      if (longFor === undefined) return owners.run(ownerId, run);
      const untilMs = performance.now() + MAX_QUEUE_WAIT_MS; // for both queues together
      return ownersLong.run(ownerId, () => long.run(longFor, run, { maxWaitMs: untilMs - performance.now() }));
    },
    openSession: ({ settings: extra, ...session } = {}) =>
      openSession({ url, name: `taskmesh-${name}-session`, settings: { ...sessionSettings, ...extra }, ...session }),
    pool,
    measure(registry) {
      measurePool(registry, name, pool);
      observe = createStatementMetrics(registry, name);
    },
    async isUp() {
      const response = probe.query('select 1').then(() => true);
      return withDeadline(response, IS_UP_MS, () => new Error('No response in time.')).catch(() => false);
    },
    async close() {
      await (closing ??= Promise.all([pool.end(), probe.end()]));
    },
  };
}

/** Reads the table directly, because the migrator would create a missing one. */
async function appliedMigrations(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ is_present: boolean }>(
    `select to_regclass('mikro_orm_migrations') is not null as is_present`,
  );
  if (!rows[0]?.is_present) return [];
  return (await pool.query<{ name: string }>('select name from mikro_orm_migrations order by id')).rows.map(
    ({ name }) => name,
  );
}

function ignore(): void {
  // nothing observes
}

function poolOf(orm: Orm): Promise<Pool> {
  return orm.em.getConnection().getNativeClient() as Promise<Pool>;
}

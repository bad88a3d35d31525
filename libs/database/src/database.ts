import type { EntityManager, MigrationObject } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM, type PostgreSqlDriver } from '@mikro-orm/postgresql';
import { ConfigError, type Log, withDeadline } from '@taskmesh/service';
import { inSpan } from '@taskmesh/telemetry';
import type { Pool, QueryResultRow } from 'pg';
import type { Registry } from 'prom-client';
import { whileAway, type RetryOptions } from './failures.ts';
import { migrate, MIGRATION_CONNECTIONS, type MigrateOptions, type Orm } from './migrate.ts';
import { measurePool } from './pool-metrics.ts';
import { runPrepared } from './prepared-query.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { Statement } from './statement.ts';
import { createStatementMetrics, type ObserveStatement } from './statement-metrics.ts';
import { createStatementSpans } from './statement-spans.ts';
import { watchConnections } from './watch-connections.ts';
import { refusalOf } from './why-postgres-fails.ts';

const STATEMENT_TIMEOUT_MS = 5_000;
const IS_UP_MS = 1_000;
/** A little longer than a statement may take. */
const SILENCE_MS = 6_000;
/** A request that finds no connection free waits for a new one to be made: the driver's 10 s would have many wait. */
const IDLE_MS = 600_000;

type Entities = NonNullable<Parameters<typeof defineConfig>[0]['entities']>;

/** How the connections of a pool are used. */
interface Connections {
  pool: Parameters<typeof defineConfig>[0]['pool'];
  /** 0: as long as it takes. */
  statementTimeoutMs: number;
  /** A connection that has not answered for so long is ended. */
  silenceMs: number;
}

/** Where a service's store is; what it holds is the service's matter. */
export interface StoreOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** Keeps two ORMs in one process apart. @default the service's name */
  name?: string;
  /** Connections at the most. @default 10 */
  poolSize?: number;
  log: Log;
}

export interface DatabaseOptions extends StoreOptions {
  name: string;
  entities: Entities;
  /** In order, each with its name: static imports, so that a bundle has them too. */
  migrations: MigrationObject[];
}

/** By the migrations' names, how a database differs from what we know. */
export interface SchemaState {
  /** Ours that are not applied. */
  missing: string[];
  /** Applied by a newer version. */
  unknown: string[];
}

export interface Database {
  /** Waits for the server and brings the schema up to date; safe to call from several instances at once. */
  migrate(options?: MigrateOptions): Promise<void>;
  /** The names of all migrations, oldest first: a schema's version is the last one that it has seen. */
  readonly versions: readonly string[];
  /** Changes nothing, and needs no right to. Rejects when the server does not answer. */
  schemaState(): Promise<SchemaState>;
  /** A fresh unit of work; one per request. */
  em(): EntityManager<PostgreSqlDriver>;
  /** Runs a hot statement straight on the pool, prepared. Parameters are bound, never put into the text. */
  run<Row extends QueryResultRow>(kind: RetryOptions['kind'], statement: Statement, values: unknown[]): Promise<Row[]>;
  /** A connection outside the pool, for locks and notifications. Who opens it closes it. */
  openSession(options?: Pick<SessionOptions, 'settings' | 'timeoutMs'>): Promise<Session>;
  /** The driver's own pool, for what needs a connection of its own. */
  readonly pool: Pool;
  /** Shows how full the pool is and how long its statements take, from now on. Migrations have a pool of their own. */
  measure(registry: Registry): void;
  /** Whether the server answers a trivial statement within a second. */
  isUp(): Promise<boolean>;
  close(): Promise<void>;
}

/** What is for a person to mend is said in words; anything else as it is. */
function failForPeople(error: unknown): never {
  const { reason, isLasting } = refusalOf(error);
  throw isLasting ? new ConfigError([`PostgreSQL ${reason}`]) : error;
}

/** Opens nothing yet: the first statement connects. */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const { name, url, entities, migrations, poolSize = 10, log } = options;
  const spans = createStatementSpans(url);
  let observe: ObserveStatement | undefined;
  /** Opens nothing yet. */
  const openOrm = async ({ pool, statementTimeoutMs, silenceMs }: Connections, onAnswer: ObserveStatement = ignore) => {
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
          connectionString: url, // the ORM would take nothing of its parameters, and with them of TLS
          connectionTimeoutMillis: 2_000,
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: 10_000,
          application_name: `taskmesh-${name}`,
          options: '-c timezone=UTC -c search_path=public', // whatever the database itself says
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
    watchConnections(connections, { silenceMs, spanOf: spans.unnamed, observe: onAnswer });
    // An idle connection that the server ends is an event on the pool; unheard it would end the process.
    // The driver hangs the whole connection on that error, so only what it says is logged.
    connections.on('error', (error) => log.warn({ reason: error.message }, 'database connection lost'));
    return { orm, pool: connections };
  };
  const { orm, pool } = await openOrm(
    {
      pool: { min: 0, max: poolSize, idleTimeoutMillis: IDLE_MS },
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      silenceMs: SILENCE_MS,
    },
    (...answer) => observe?.(...answer),
  );

  return {
    versions: migrations.map((migration) => migration.name),
    async migrate(how) {
      const { orm: migrating } = await openOrm(MIGRATION_CONNECTIONS);
      try {
        await migrate(migrating, how).catch(failForPeople);
      } finally {
        await migrating.close(true);
      }
    },
    async schemaState() {
      const applied = await appliedMigrations(pool);
      const known = migrations.map(({ name: known }) => known);
      return {
        missing: known.filter((each) => !applied.includes(each)),
        unknown: applied.filter((each) => !known.includes(each)),
      };
    },
    em: () => orm.em.fork(),
    run: <Row extends QueryResultRow>(kind: RetryOptions['kind'], statement: Statement, values: unknown[]) =>
      inSpan(
        () => spans.named(statement),
        () => whileAway({ kind }, () => runPrepared<Row>(pool, statement, values)),
      ),
    openSession: (session) => openSession({ url, name: `taskmesh-${name}-session`, ...session }),
    pool,
    measure(registry) {
      measurePool(registry, name, pool);
      observe = createStatementMetrics(registry, name);
    },
    async isUp() {
      const answered = pool.query('select 1').then(() => true);
      return withDeadline(answered, IS_UP_MS, () => new Error('No answer in time.')).catch(() => false);
    },
    close: () => orm.close(true),
  };
}

/** The ORM's own way would make its table where there is none. */
async function appliedMigrations(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query(`select to_regclass('mikro_orm_migrations') is not null as there`);
  if (!rows[0]?.there) return [];
  return (await pool.query<{ name: string }>('select name from mikro_orm_migrations order by id')).rows.map(
    ({ name }) => name,
  );
}

function ignore(): void {
  // nobody looks
}

/** The PostgreSQL driver's client is a pg pool. */
function poolOf(orm: Orm): Promise<Pool> {
  return orm.em.getConnection().getNativeClient() as Promise<Pool>;
}

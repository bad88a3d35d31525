import type { EntityManager } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM, type PostgreSqlDriver } from '@mikro-orm/postgresql';
import { ConfigError, type Log } from '@taskmesh/service';
import type { Pool, QueryResultRow } from 'pg';
import { whileAway, type RetryOptions } from './failures.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { Statement } from './statement.ts';
import { watchConnections } from './watch-connections.ts';
import { withAdvisoryLock } from './advisory-lock.ts';
import { refusalOf } from './why-postgres-fails.ts';

/** A little longer than a statement may take. */
const SILENCE_MS = 6_000;
/** A request that finds no connection free waits for a new one to be made: the driver's 10 s would have many wait. */
const IDLE_MS = 600_000;

type Entities = NonNullable<Parameters<typeof defineConfig>[0]['entities']>;
type Migrations = NonNullable<NonNullable<Parameters<typeof defineConfig>[0]['migrations']>['migrationsList']>;

export interface DatabaseOptions {
  /** The service's name: keeps two ORMs in one process apart. */
  name: string;
  /** postgres://user:password@host:port/database */
  url: string;
  entities: Entities;
  /** In order, each with its name: static imports, so that a bundle has them too. */
  migrations: Migrations;
  /** Connections at the most. @default 10 */
  poolSize?: number;
  log: Log;
}

export interface Database {
  /** Waits for the server (up to `waitMs`, default 60 s) and brings the schema up to date; safe to call from several instances at once. */
  migrate(waitMs?: number): Promise<void>;
  /** A fresh unit of work; one per request. */
  em(): EntityManager<PostgreSqlDriver>;
  /** Runs a hot statement straight on the pool, prepared. Parameters are bound, never put into the text. */
  run<Row extends QueryResultRow>(kind: RetryOptions['kind'], statement: Statement, values: unknown[]): Promise<Row[]>;
  /** A connection outside the pool, for locks and notifications. Who opens it closes it. */
  openSession(options?: Pick<SessionOptions, 'settings' | 'timeoutMs'>): Promise<Session>;
  /** The driver's own pool, for what needs a connection of its own. */
  pool(): Promise<Pool>;
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
      pool: { min: 0, max: poolSize, idleTimeoutMillis: IDLE_MS },
      driverOptions: {
        connectionString: url, // the ORM would take nothing of its parameters, and with them of TLS
        connectionTimeoutMillis: 2_000,
        statement_timeout: 5_000,
        idle_in_transaction_session_timeout: 10_000,
        application_name: `taskmesh-${name}`,
        options: '-c timezone=UTC',
      },
      migrations: {
        migrationsList: migrations,
        snapshot: false,
        transactional: true,
        allOrNothing: false,
        silent: true,
      },
      logger: (message) => log.debug({ message }, 'orm'),
    }),
  );
  const connection = orm.em.getConnection();
  const pool = (): Promise<Pool> => connection.getNativeClient() as Promise<Pool>; // the PostgreSQL driver's client is a pg pool
  watchConnections(await pool(), { silenceMs: SILENCE_MS });

  return {
    async migrate(waitMs = 60_000) {
      await whileAway({ kind: 'read', deadlineMs: waitMs }, async () => {
        await withAdvisoryLock(await pool(), 'taskmesh-migrations', () => orm.migrator.up());
      }).catch(failForPeople);
      // An idle connection that the server ends is an event on the pool; unheard it would end the process.
      // The driver hangs the whole connection on that error, so only what it says is logged.
      (await pool()).on('error', (error) => log.warn({ reason: error.message }, 'database connection lost'));
    },
    em: () => orm.em.fork(),
    run: (kind, statement, values) =>
      whileAway({ kind }, async () => (await (await pool()).query({ ...statement, values })).rows),
    openSession: (session) => openSession({ url, name: `taskmesh-${name}-session`, ...session }),
    pool,
    async isUp() {
      const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), 1_000).unref());
      const answered = pool()
        .then((client) => client.query('select 1'))
        .then(
          () => true,
          () => false,
        );
      return Promise.race([answered, late]);
    },
    close: () => orm.close(true),
  };
}

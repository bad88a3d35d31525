import type { EntityManager } from '@mikro-orm/core';
import type { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { ConfigError, createFailureLog, type Log } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryWhileUnavailable } from './failures.ts';
import { refusalOf } from './postgres-problems.ts';
import { SQL_STATE } from './sql-state.ts';

/** The part of MikroORM used here, without its type parameter for the entities. */
export interface Orm {
  em: EntityManager<PostgreSqlDriver>;
  migrator: Pick<MikroORM['migrator'], 'up'>;
}

/** The statements of migrations may take longer than those of requests. A silent process still loses its connection, and its locks. */
export const MIGRATION_CONNECTIONS = {
  /** One connection for the transaction, one on which the ORM creates its own table. */
  pool: { min: 0, max: 2 },
  statementTimeoutMs: 0,
  silenceMs: Infinity,
};

/**
 * How long a migration waits for a table lock. All later statements queue behind a waiting lock, so waiting for a long
 * transaction would block the table. Instead, the migration gives up and tries again later.
 */
const LOCK_TIMEOUT = '500ms';
const PAUSE_MS = 2_000;

export interface MigrateLimits {
  /** How long to wait for the server, in ms. @default 60_000 */
  waitMs?: number;
  /** The last migration to apply. @default the newest */
  to?: string | undefined;
  /** Aborts the migration, which is then rolled back. */
  signal?: AbortSignal | undefined;
}

interface MigrateOptions extends MigrateLimits {
  /** Rejects with a ConfigError if the server cannot be used and waiting does not help. */
  refuseUnfit: () => Promise<void>;
  log: Log;
}

/**
 * Waits for the server and applies the missing migrations, all or none, in one transaction that holds the migration lock:
 * one of several instances applies them, the others find them applied. A lost connection rolls back and frees the lock.
 * @throws ConfigError from `refuseUnfit`, or for a lasting refusal
 */
export async function migrate(orm: Orm, options: MigrateOptions): Promise<void> {
  const { waitMs = 60_000, to, signal, refuseUnfit, log } = options;
  const failures = createFailureLog((error) =>
    log.warn({ reason: `PostgreSQL ${refusalOf(error).reason}` }, 'waiting for the database'),
  );
  /** Returns the error if another transaction holds a table. */
  const attempt = async (): Promise<unknown> => {
    signal?.throwIfAborted();
    try {
      await refuseUnfit();
      signal?.throwIfAborted();
      return await migrateOnce(orm, to);
    } catch (error) {
      failures.failed(error);
      if (isLockTimeout(error)) return error;
      throw explainRefusal(error);
    }
  };
  const deadline = performance.now() + waitMs;
  for (;;) {
    const blocked = await retryWhileUnavailable({ kind: 'read', deadlineMs: deadline - performance.now() }, attempt);
    if (blocked === undefined) return;
    if (performance.now() + PAUSE_MS > deadline) throw blocked;
    await sleep(PAUSE_MS);
  }
}

/** A person must end a lasting refusal, so waiting for it would not help. */
function explainRefusal(error: unknown): unknown {
  const { reason, isPermanent } = refusalOf(error);
  return isPermanent ? new ConfigError([`PostgreSQL ${reason}`]) : error;
}

async function migrateOnce(orm: Orm, to: string | undefined): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    const run = (sql: string, parameters: unknown[] = []) =>
      em.getConnection().execute(sql, parameters, 'all', em.getTransactionContext());
    await run('select pg_advisory_xact_lock(hashtext(?))', ['taskmesh-migrations']);
    await run(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await orm.migrator.up({ transaction: em.getTransactionContext(), ...(to !== undefined && { to }) });
  });
}

function isLockTimeout(error: unknown): boolean {
  for (let each = error; Error.isError(each); each = each.cause)
    if ('code' in each && each.code === SQL_STATE.lockNotAvailable) return true;
  return false;
}

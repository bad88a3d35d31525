import type { EntityManager } from '@mikro-orm/core';
import type { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { setTimeout as sleep } from 'node:timers/promises';
import { whileAway } from './failures.ts';
import { refuseTooOld, SERVER_VERSION } from './server-version.ts';
import { LIFT_LIMITS } from './session-limits.ts';
import { SQL_STATE } from './sql-state.ts';

/** The part of MikroORM used here, without its type parameter for the entities. */
export interface Orm {
  em: EntityManager<PostgreSqlDriver>;
  migrator: Pick<MikroORM['migrator'], 'up'>;
}

/** Migrations may exceed the limits that are set for requests. */
export const MIGRATION_CONNECTIONS = {
  /** One connection holds the transaction; the ORM creates its own table on the other. */
  pool: { min: 0, max: 2 },
  statementTimeoutMs: 0,
  silenceMs: Infinity,
};

/**
 * How long a migration waits for a table lock. All other statements queue behind a waiting lock, so waiting for a long
 * transaction would block the table: give up instead, and try again later.
 */
const TABLE_WAIT = '500ms';
const PAUSE_MS = 2_000;

export interface MigrateOptions {
  /** How long to wait for the server, in ms. @default 60_000 */
  waitMs?: number;
  /** The last migration to apply. @default the newest */
  to?: string | undefined;
}

/**
 * Waits for the server and applies the missing migrations, all or nothing, in one transaction that holds the migration
 * lock: one of several instances applies them, the others find them applied. A lost connection releases both.
 * @throws ConfigError when the server is too old for them
 */
export async function migrate(orm: Orm, { waitMs = 60_000, to }: MigrateOptions = {}): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      return await whileAway({ kind: 'read', deadlineMs: deadline - performance.now() }, () => migrateOnce(orm, to));
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() + PAUSE_MS > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function migrateOnce(orm: Orm, to: string | undefined): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    const run = (sql: string, parameters: unknown[] = []) =>
      em.getConnection().execute(sql, parameters, 'all', em.getTransactionContext());
    const [server] = await run(SERVER_VERSION);
    refuseTooOld(server?.version);
    await run(LIFT_LIMITS);
    await run('select pg_advisory_xact_lock(hashtext(?))', ['taskmesh-migrations']);
    await run(`set local lock_timeout = '${TABLE_WAIT}'`);
    await orm.migrator.up({ transaction: em.getTransactionContext(), ...(to !== undefined && { to }) });
  });
}

function isLockTimeout(error: unknown): boolean {
  for (let each = error; Error.isError(each); each = each.cause)
    if ('code' in each && each.code === SQL_STATE.lockNotAvailable) return true;
  return false;
}

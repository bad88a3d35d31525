import type { EntityManager } from '@mikro-orm/core';
import type { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { setTimeout as sleep } from 'node:timers/promises';
import { whileAway } from './failures.ts';

/** What is used of it: the type of the whole says of which entities it is, which nobody here minds. */
export interface Orm {
  em: EntityManager<PostgreSqlDriver>;
  migrator: Pick<MikroORM['migrator'], 'up'>;
}

/** What a migration needs from its connections; for requests there are limits that it may well exceed. */
export const MIGRATION_CONNECTIONS = {
  /** One holds the transaction; with the other the ORM makes its own table. */
  pool: { min: 0, max: 2 },
  statementTimeoutMs: 0,
  silenceMs: Infinity,
};

/**
 * How long a migration may wait for a table. Everybody else queues behind who waits for it, so a long transaction of
 * somebody must not make the table unusable: rather try again when it is over.
 */
const TABLE_WAIT = '500ms';
const PAUSE_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface MigrateOptions {
  /** How long to wait for the server. @default 60_000 */
  waitMs?: number;
  /** The last migration to apply. @default the newest */
  to?: string | undefined;
}

/**
 * Waits for the server and applies what is missing, all or nothing, in one transaction that holds the one lock for it: of
 * several instances one does it and the others find it done; a connection that is lost takes transaction and lock along.
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
    await run('select pg_advisory_xact_lock(hashtext(?))', ['taskmesh-migrations']);
    await run(`set local lock_timeout = '${TABLE_WAIT}'`);
    await orm.migrator.up({ transaction: em.getTransactionContext(), ...(to !== undefined && { to }) });
  });
}

function isLockTimeout(error: unknown): boolean {
  for (let each = error; Error.isError(each); each = each.cause)
    if ('code' in each && each.code === LOCK_NOT_AVAILABLE) return true;
  return false;
}

import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, type Client } from 'pg';
import { withClients } from './connect.ts';

/** Sessions that keep writers out of databases for as long as they live. */
export type Lockers<Name = string> = ReadonlyMap<Name, Client>;

/** Writers are held up for as long as one try waits; between the tries they get on. */
const LOCK_TIMEOUT_MS = 3_000;
const PAUSE_MS = 500;
export const PATIENCE_MS = 20_000;
/** A deadlock, or a lock that somebody held for too long. */
const TRY_AGAIN = new Set(['40P01', '55P03']);

export class WritersBusyError extends Error {
  override readonly name = 'WritersBusyError';
}

/**
 * Runs `work` while nobody can write to the databases, given by name with their addresses; readers do not notice. All locks
 * or none: while one is waited for, the others are held for no longer than one try.
 * @throws WritersBusyError when somebody goes on writing for too long
 */
export async function withWritersOut<Name, Result>(
  databases: ReadonlyMap<Name, string>,
  work: (lockers: Lockers<Name>) => Promise<Result>,
): Promise<Result> {
  const names = [...databases.keys()];
  return withClients([...databases.values()], async (clients) => {
    for (const client of clients) await client.query(UNBOUNDED);
    await lockAll(clients);
    return work(new Map(clients.map((client, index) => [names[index] as Name, client])));
  });
}

/** What the operator has set for sessions in general must not end these. */
const UNBOUNDED = `select set_config(name, '0', false) from pg_catalog.pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;

async function lockAll(clients: Client[]): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      for (const client of clients) await lockTables(client);
      return;
    } catch (error) {
      const again = error instanceof DatabaseError && TRY_AGAIN.has(error.code ?? '');
      if (!again) throw error;
      for (const client of clients) await client.query('rollback');
      if (performance.now() > deadline)
        throw new WritersBusyError('Writers could not be kept out of a store.', { cause: error });
      await pause(PAUSE_MS);
    }
  }
}

async function lockTables(client: Client): Promise<void> {
  await client.query('begin');
  await client.query('set local search_path = pg_catalog');
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema' order by c.oid`,
  );
  if (rows.length > 0) await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in share mode`);
}

/** @throws Error when a locker was lost: then somebody may have written since */
export async function checkLockers(lockers: Lockers<unknown>): Promise<void> {
  for (const locker of lockers.values()) await locker.query('select 1');
}

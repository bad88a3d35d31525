import { SQL_STATE } from '@taskmesh/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Client } from 'pg';
import { withAdmin, withAdmins } from './connect.ts';
import { IDLE_LOCK_MS, SERVER_TIMEOUT_MS } from './servers.ts';

/** Sessions that lock writers out of databases until they end. */
export type LockSessions<Name = string> = ReadonlyMap<Name, Client>;

/** The share of `writersMs` for which one attempt may block writers; they proceed between attempts. */
const TRY_SHARE = 0.15;
const PAUSE_MS = 500;
const RETRYABLE = new Set<string>([SQL_STATE.deadlockDetected, SQL_STATE.lockNotAvailable]);

/** The URLs of a live database and the one that is to replace it. */
export interface Replaced {
  live: string;
  fresh: string;
}

export class WritersBusyError extends Error {
  override readonly name = 'WritersBusyError';
}

/**
 * Runs `work` while no one can write to the stores' tables in the live databases, given by name; readers and writers to
 * other tables are unaffected. Takes all locks or none: it holds some while it waits for others only during one attempt.
 * `writersMs`: how long to wait for writers. `idleMs`: how long the locks last if this process stops responding.
 * @throws WritersBusyError when writers continue for too long
 */
export async function withWritersLockedOut<Name, Result>(
  databases: ReadonlyMap<Name, Replaced>,
  work: (lockers: LockSessions<Name>) => Promise<Result>,
  { writersMs, idleMs = IDLE_LOCK_MS }: { writersMs: number; idleMs?: number },
): Promise<Result> {
  const [names, replaced] = [[...databases.keys()], [...databases.values()]];
  const tables = await Promise.all(replaced.map(({ fresh }) => withAdmin(fresh, tablesOf)));
  const urls = replaced.map(({ live }) => live);
  const run = async (clients: Client[]) => {
    const lockings = clients.map((client, index) => ({ client, tables: tables[index] ?? [] }));
    await lockAll(lockings, writersMs, idleMs);
    const beat = setInterval(() => clients.forEach(keepAlive), idleMs / BEATS_PER_TIMEOUT);
    try {
      return await work(new Map(clients.map((client, index) => [names[index] as Name, client])));
    } finally {
      clearInterval(beat);
    }
  };
  return withAdmins(urls, run, { timeoutMs: SERVER_TIMEOUT_MS });
}

/** Keeps a lock, whose session the server ends after `idleMs` without a statement. */
const keepAlive = (client: Client): void => void client.query('select 1').catch(() => undefined);
const BEATS_PER_TIMEOUT = 4;

interface Locking {
  client: Client;
  tables: string[];
}

async function lockAll(lockings: Locking[], writersMs: number, idleMs: number): Promise<void> {
  const deadline = performance.now() + writersMs;
  for (;;) {
    try {
      for (const locking of lockings) await lockTables(locking, { tryMs: Math.ceil(writersMs * TRY_SHARE), idleMs });
      return;
    } catch (error) {
      const isRetryable = error instanceof DatabaseError && RETRYABLE.has(error.code ?? '');
      if (!isRetryable) throw error;
      for (const { client } of lockings) await client.query('rollback');
      if (performance.now() > deadline)
        throw new WritersBusyError('Writers could not be kept out of a store.', { cause: error });
      await sleep(PAUSE_MS);
    }
  }
}

async function lockTables(
  { client, tables }: Locking,
  { tryMs, idleMs }: { tryMs: number; idleMs: number },
): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${tryMs}`);
  await client.query(`set local idle_in_transaction_session_timeout = ${idleMs}`);
  const existing = await storeTables(client, tables);
  if (existing.length > 0) await client.query(`lock table ${existing.join(', ')} in share mode`);
}

/** Returns the other database's `tables` that exist here too: tables of the store, not of an operator or extension. */
export async function storeTables(client: Client, tables: readonly string[]): Promise<string[]> {
  return (await tablesOf(client)).filter((name) => tables.includes(name));
}

export async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'p') and relnamespace = to_regnamespace('public') order by oid`,
  );
  return rows.map(({ name }) => name);
}

/** @throws Error when a locker was lost, because writers may have written since */
export async function checkLockers(lockers: LockSessions<unknown>): Promise<void> {
  for (const locker of lockers.values()) await locker.query('select 1');
}

import { SQL_STATE } from '@taskmesh/store';
import { errorCode } from '@taskmesh/contracts/error-details';
import type { Log } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier, type Client } from 'pg';
import { disconnect } from '@taskmesh/store/connection';
import type { Timeouts } from '../stall-detection.ts';
import { withAdmin } from './connect.ts';
import type { RestoreNames } from './names.ts';
import type { LockSessions } from './lock-writers.ts';

const END_EVERY_MS = 10;

export interface Swap {
  /** A session in the maintenance database, and its URL. */
  client: Client;
  url: string;
  names: readonly RestoreNames[];
  /** By live database; released once all other sessions have left and no new ones can enter. */
  lockers: LockSessions;
  timeouts: Pick<Timeouts, 'renameMs'>;
  log: Log;
}

/**
 * Renames each `live` to its `old`, which accepts no connections, and each `fresh` to its `live`: all in one transaction,
 * so that a crash leaves all or nothing. Ends the stores' sessions; new ones wait and then reach the new databases,
 * which accept them only if `open`.
 * @throws Error when nothing was changed, or when the server was lost and the outcome is unknown
 */
export function swapIn(swap: Swap, { open }: { open: boolean }): Promise<void> {
  return renameAll(
    swap,
    swap.names.flatMap(({ live, fresh, old }) => [
      rename(live, old),
      rename(fresh, live),
      allowConnections(old, false),
      allowConnections(live, open),
    ]),
  );
}

/** Undoes `swapIn`. The new databases must never have been open. */
export function swapBack(swap: Swap): Promise<void> {
  return renameAll(
    swap,
    swap.names.flatMap(({ live, fresh, old }) => [
      rename(live, fresh),
      rename(old, live),
      allowConnections(live, true),
    ]),
  );
}

const rename = (from: string, to: string) =>
  `alter database ${escapeIdentifier(from)} rename to ${escapeIdentifier(to)}`;

export const allowConnections = (name: string, allow: boolean) =>
  `alter database ${escapeIdentifier(name)} allow_connections ${allow}`;

/** The first rename of a database blocks new sessions and waits for the existing ones, which we end meanwhile. */
async function renameAll({ client, url, names, lockers, timeouts, log }: Swap, statements: string[]): Promise<void> {
  await client.query(`set statement_timeout = ${timeouts.renameMs}`);
  const done = new AbortController();
  const released = new Set<string>();
  const ending = endSessions({ url, renamer: await pidOf(client), lockers, released, signal: done.signal }).catch(
    (error: unknown) => {
      log.warn({ err: error }, 'sessions of a store cannot be ended');
      return [];
    },
  );
  try {
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    // If a locker was lost before, writers may have made changes that were not carried over.
    if (released.size < lockers.size) throw new Error('A session that kept writers out was lost.');
    await client.query('commit');
  } catch (error) {
    done.abort();
    await client.query('rollback').catch(() => undefined); // without a connection, there is no transaction either
    log.warn(
      { err: error, databases: names.map(({ live }) => live), sessions: await ending },
      'databases not swapped: sessions that use them could not be ended, or the server refused',
    );
    throw error;
  } finally {
    done.abort();
    await ending;
  }
}

/** Databases that the renaming session has closed to new sessions, with their remaining sessions. */
const CLOSED = `
  select d.datname as database, array_agg(a.pid) filter (where a.pid is not null) as pids
  from pg_locks l join pg_database d on d.oid = l.objid
  left join pg_stat_activity a on a.datid = d.oid and a.pid <> all($2) and a.backend_type is distinct from 'autovacuum worker'
  where l.pid = $1 and l.locktype = 'object' and l.classid = 'pg_database'::regclass and l.mode = 'AccessExclusiveLock' and l.granted
  group by d.datname`;

interface EndingSessions extends Pick<Swap, 'url' | 'lockers'> {
  renamer: number;
  /** Databases whose locker was alive until all other sessions had left. */
  released: Set<string>;
  signal: AbortSignal;
}

/** Ends the sessions of databases that are being renamed. Returns those that we are not permitted to end. */
async function endSessions({ url, renamer, lockers, released, signal }: EndingSessions): Promise<number[]> {
  const refused = new Set<number>();
  const lockerPids = new Map<string, number>();
  for (const [database, locker] of lockers) lockerPids.set(database, await pidOf(locker));
  await withAdmin(url, async (client) => {
    while (!signal.aborted) {
      const { rows } = await client.query<{ database: string; pids: number[] | null }>(CLOSED, [
        renamer,
        [...lockerPids.values()],
      ]);
      for (const { database, pids } of rows) {
        const locker = lockers.get(database);
        if (pids === null && locker && !released.has(database)) {
          await locker.query('select 1');
          released.add(database);
          await disconnect(locker);
          lockerPids.delete(database); // a pooler may keep its session
        }
        for (const pid of pids ?? []) if (!refused.has(pid) && !(await endSession(client, pid))) refused.add(pid);
      }
      await sleep(END_EVERY_MS);
    }
  });
  return [...refused];
}

/** Does not use the optional wait of `pg_terminate_backend`, which could hang. */
async function endSession(client: Client, pid: number): Promise<boolean> {
  try {
    await client.query('select pg_terminate_backend($1)', [pid]);
    return true;
  } catch (error) {
    if (errorCode(error) === SQL_STATE.insufficientPrivilege) return false;
    throw error;
  }
}

/** Queries the server, because a pooler makes up the driver's `processID`. */
async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

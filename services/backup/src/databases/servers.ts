import { randomInt } from 'node:crypto';
import type { Client } from 'pg';
import type { Store } from './store.ts';
import { maintenanceUrl, withAdmins } from './connect.ts';

/** The stores on one server, which one transaction can rename, and the session for it. */
export interface Server {
  client: Client;
  /** The session's URL, in the maintenance database. */
  url: string;
  stores: Store[];
}

/** Limits how long a server that does not respond holds up the others. */
export const SERVER_TIMEOUT_MS = 30_000;
/** After this time, the server itself releases the locks of a process that is suspended or unreachable. */
export const IDLE_LOCK_MS = 15_000;
const FENCE_TIMEOUT_MS = 10_000;
const MAX_MARK = 2 ** 31;

/**
 * Groups stores by server and administrator. Different URLs may lead to the same server (names, proxies, sockets), so
 * each session takes a lock that the other sessions on the same server can see.
 */
export async function withServers<Result>(
  stores: readonly Store[],
  work: (servers: Server[]) => Promise<Result>,
): Promise<Result> {
  const urls = stores.map(({ adminUrl }) => maintenanceUrl(adminUrl));
  const run = async (clients: Client[]) => {
    const mark = randomInt(MAX_MARK);
    for (const [index, client] of clients.entries()) {
      await client.query(`set lock_timeout = ${FENCE_TIMEOUT_MS}`);
      await client.query(`set idle_in_transaction_session_timeout = ${IDLE_LOCK_MS}`);
      await client.query(`set tcp_user_timeout = ${SERVER_TIMEOUT_MS}`); // for a host that is lost while it gets a response
      await client.query('select pg_advisory_lock($1, $2)', [mark, index]);
    }
    const servers = new Map<string, Server>();
    for (const [index, client] of clients.entries()) {
      const address = await addressOf(client, mark);
      const store = stores[index] as Store; // one client per store
      const server = servers.get(address);
      if (server) server.stores.push(store);
      else servers.set(address, { client, url: urls[index] as string, stores: [store] });
    }
    return work([...servers.values()]);
  };
  return withAdmins(urls, run, { timeoutMs: SERVER_TIMEOUT_MS });
}

async function addressOf(client: Client, mark: number): Promise<string> {
  const { rows } = await client.query<{ address: string }>(
    `select min(objid::bigint) || ' ' || current_user as address from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and granted`,
    [mark],
  );
  return rows[0]?.address ?? '';
}

/**
 * Ensures that no one else works on the databases of that restore until the sessions end, not even an instance that was
 * presumed dead.
 */
export async function lockRestore(servers: readonly Server[], restore: string): Promise<void> {
  for (const { client } of servers)
    await client.query(
      `select pg_advisory_lock(hashtextextended('taskmesh-restore ' || current_user || ' ' || $1, 0))`,
      [restore],
    );
}

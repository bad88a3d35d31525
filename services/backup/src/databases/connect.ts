import { inDatabase, LIFT_LIMITS } from '@taskmesh/database';
import { Client } from 'pg';

/** A database can be created, renamed and dropped only from another one. */
export function maintenanceUrl(serverUrl: string): string {
  return inDatabase(serverUrl, 'postgres');
}

const CONNECT_TIMEOUT_MS = 5_000;

export async function withAdmins<Result>(
  urls: readonly string[],
  work: (admins: Client[]) => Promise<Result>,
): Promise<Result> {
  const clients = urls.map((url) => clientOf(url));
  try {
    for (const client of clients) await connectAdmin(client);
    return await work(clients);
  } finally {
    await Promise.all(clients.map(close));
  }
}

export function withAdmin<Result>(url: string, work: (admin: Client) => Promise<Result>): Promise<Result> {
  return withAdmins([url], ([admin]) => work(admin as Client)); // one for each URL
}

export function clientOf(connectionString: string, name = 'taskmesh-backup'): Client {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: name,
    keepAlive: true,
  });
  client.on('error', () => undefined); // the query rejects as well
  return client;
}

export async function close(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/**
 * Connects an administrator. Names in statements mean PostgreSQL's own functions and relations, and none of the operator's
 * general limits ends the session. What the operator has frozen until it is restored may be restored.
 */
export async function connectAdmin(client: Client): Promise<void> {
  await client.connect();
  await client.query(PINNED);
  await client.query(LIFT_LIMITS);
}

const PINNED = `select pg_catalog.set_config('search_path', 'pg_catalog', false),
  pg_catalog.set_config('statement_timeout', '0', false),
  pg_catalog.set_config('default_transaction_read_only', 'off', false)`;

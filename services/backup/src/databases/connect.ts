import { inDatabase, LIFT_LIMITS } from '@taskmesh/database';
import { Client } from 'pg';

/** A database can be created, renamed and dropped only from another one. */
export function maintenanceUrl(serverUrl: string): string {
  return inDatabase(serverUrl, 'postgres');
}

const CONNECT_TIMEOUT_MS = 5_000;

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = clientOf(url);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await close(client);
  }
}

export async function withAdmins<Result>(
  urls: readonly string[],
  work: (admins: Client[]) => Promise<Result>,
): Promise<Result> {
  const clients = urls.map(clientOf);
  try {
    for (const client of clients) {
      await client.connect();
      await administer(client);
    }
    return await work(clients);
  } finally {
    await Promise.all(clients.map(close));
  }
}

function clientOf(connectionString: string): Client {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'taskmesh-backup',
    keepAlive: true,
  });
  client.on('error', () => undefined); // the query rejects as well
  return client;
}

export async function close(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/**
 * Makes names in an administrator's statements mean PostgreSQL's own functions and relations, and lets none of the
 * operator's general limits end the session. What the operator has frozen until it is restored may be restored.
 */
async function administer(client: Client): Promise<void> {
  await client.query(PINNED);
  await client.query(LIFT_LIMITS);
}

const PINNED = `select pg_catalog.set_config('search_path', 'pg_catalog', false),
  pg_catalog.set_config('statement_timeout', '0', false),
  pg_catalog.set_config('default_transaction_read_only', 'off', false)`;

export function withAdmin<Result>(url: string, work: (admin: Client) => Promise<Result>): Promise<Result> {
  return withClient(url, async (admin) => {
    await administer(admin);
    return work(admin);
  });
}

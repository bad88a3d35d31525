import { inDatabase } from '@taskmesh/database';
import { Client } from 'pg';

/** Databases can be made, renamed and dropped only from another one. */
export function maintenanceUrl(serverUrl: string): string {
  return inDatabase(serverUrl, 'postgres');
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `work` with a connection of its own, which is closed afterwards. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = clientOf(url);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await close(client);
  }
}

/** An administrator's connection for each address. */
export async function withAdmins<Result>(
  urls: readonly string[],
  work: (admins: Client[]) => Promise<Result>,
): Promise<Result> {
  const clients = urls.map(clientOf);
  try {
    for (const client of clients) {
      await client.connect();
      await client.query(PINNED);
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
  client.on('error', () => undefined); // told by the query as well
  return client;
}

export async function close(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** An administrator's statements mean PostgreSQL's own functions and relations, whatever else has their names. */
const PINNED = "select pg_catalog.set_config('search_path', 'pg_catalog', false)";

export function withAdmin<Result>(url: string, work: (admin: Client) => Promise<Result>): Promise<Result> {
  return withClient(url, async (admin) => {
    await admin.query(PINNED);
    return work(admin);
  });
}

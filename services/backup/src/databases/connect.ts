import { inDatabase } from '@taskmesh/database';
import { Client } from 'pg';

/** Databases can be made, renamed and dropped only from another one. */
export function maintenanceUrl(serverUrl: string): string {
  return inDatabase(serverUrl, 'postgres');
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `work` with a connection of its own, which is closed afterwards. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'taskmesh-backup',
    keepAlive: true,
  });
  client.on('error', () => undefined); // told by the query as well
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The same for an administrator, whose statements mean PostgreSQL's own functions and relations, whatever else has their names. */
export function withAdmin<Result>(url: string, work: (admin: Client) => Promise<Result>): Promise<Result> {
  return withClient(url, async (admin) => {
    await admin.query("select pg_catalog.set_config('search_path', 'pg_catalog', false)");
    return work(admin);
  });
}

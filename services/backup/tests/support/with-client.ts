import type { Client } from 'pg';
import { clientOf, close } from '../../src/databases/connect.ts';

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = clientOf(url);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await close(client);
  }
}

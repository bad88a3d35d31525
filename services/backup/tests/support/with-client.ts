import type { Client } from 'pg';
import { connect } from '@taskmesh/store/connection';
import { disconnect } from '@taskmesh/store/connection';

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect({ url, name: 'taskmesh-test' });
  try {
    return await work(client);
  } finally {
    await disconnect(client);
  }
}

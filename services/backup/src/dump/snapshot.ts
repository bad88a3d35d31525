import type { Client } from 'pg';
import { connectAdmin } from '../databases/connect.ts';

/** Reads the store as of one moment while others keep writing. The caller closes it. */
export interface Snapshot {
  /** @throws Error with the reason if the connection is lost, even for later reads */
  read<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Ends the transaction. @throws Error if the connection was lost */
  finish(): Promise<void>;
  /** Closes at once, even with a query pending. */
  close(): void;
}

/** As pg_dump has them: any server reads the written values back unchanged. */
const SETTINGS = {
  extra_float_digits: '3',
  synchronize_seqscans: 'off',
  lock_timeout: '10s',
  row_security: 'off',
  search_path: '', // makes all names schema-qualified
};

export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = await connectAdmin({ url, name: 'taskmesh-dump', settings: SETTINGS });
  let lost: Error | undefined;
  client.on('error', (error) => (lost ??= error));
  const read = async <T>(work: (client: Client) => Promise<T>) => {
    try {
      return await work(client);
    } catch (error) {
      throw lost ?? error;
    }
  };
  const close = () => {
    client.connection.stream.destroy(); // a graceful close would wait for rows that nobody reads
  };
  try {
    await client.query('begin isolation level repeatable read, read only');
    await client.query('select 1 from pg_catalog.pg_class limit 1'); // the first query takes the snapshot
    return { read, finish: async () => void (await read(() => client.query('commit'))), close };
  } catch (error) {
    close();
    throw error;
  }
}

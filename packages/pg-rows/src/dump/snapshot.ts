import type { Client } from 'pg';

/** Reads a database as of one moment while other sessions keep writing. */
export interface Snapshot {
  /** Runs `work` with the connection. @throws Error with the reason if the connection is lost, in this and all later reads */
  read<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Ends the transaction. @throws Error if the connection was lost, in which case the data read may be of two moments */
  finish(): Promise<void>;
  /** Closes the connection at once, even with a query pending. */
  close(): void;
}

/** The settings of pg_dump, with which any server reads the written values back unchanged. */
const SETTINGS = {
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  extra_float_digits: '3',
  idle_in_transaction_session_timeout: '0',
  intervalstyle: 'postgres',
  lock_timeout: '10s',
  quote_all_identifiers: 'off',
  row_security: 'off',
  search_path: '', // makes all names schema-qualified
  statement_timeout: '0',
  synchronize_seqscans: 'off',
  transaction_timeout: '0', // does not exist on older servers
};

/** Skips settings that the server does not know. As the first query of the transaction, it takes the snapshot. */
const APPLY_SETTINGS = `select pg_catalog.set_config(name, value, true) from pg_catalog.json_each_text($1) as settings (name, value)
  where pg_catalog.current_setting(name, true) is not null`;

/** Begins a transaction on a dedicated connection, which the snapshot closes. */
export async function openSnapshot(client: Client): Promise<Snapshot> {
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
    client.connection.stream.destroy(); // a graceful close would wait for rows that are no longer read
  };
  try {
    await client.query('begin isolation level repeatable read, read only');
    await client.query(APPLY_SETTINGS, [JSON.stringify(SETTINGS)]);
    return { read, finish: async () => void (await read(() => client.query('commit'))), close };
  } catch (error) {
    close();
    throw error;
  }
}

import { Client } from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;

/** All that is read is the store at one moment, while others go on writing. Who opened it closes it. */
export interface Snapshot {
  /** @throws Error why the connection was lost, when it was: queries behind that only say that there is none */
  read<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Ends the transaction. @throws Error when the connection was lost since */
  finish(): Promise<void>;
  /** At once, whatever is under way. */
  close(): void;
}

/** As pg_dump sets its session: values are written so that any server reads the same ones back. */
const SESSION = [
  `set client_encoding = 'UTF8'`,
  `set datestyle = 'ISO'`,
  `set intervalstyle = 'postgres'`,
  'set extra_float_digits = 3',
  `set bytea_output = 'hex'`,
  'set synchronize_seqscans = off',
  'set statement_timeout = 0',
  'set idle_in_transaction_session_timeout = 0',
  `set lock_timeout = '10s'`,
  'set row_security = off',
  `set search_path = ''`, // so that all names come out with their schema
];

export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'taskmesh-dump',
    keepAlive: true,
  });
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
    client.connection.stream.destroy(); // a goodbye would wait for rows that nobody reads any more
  };
  try {
    await client.connect();
    for (const setting of SESSION) await client.query(setting);
    await client.query('begin isolation level repeatable read, read only');
    await client.query('select 1 from pg_catalog.pg_class limit 1'); // the first query decides about the moment
    return { read, finish: async () => void (await read(() => client.query('commit'))), close };
  } catch (error) {
    close();
    throw error;
  }
}

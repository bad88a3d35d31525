import { Client, type ClientBase, type ClientConfig } from 'pg';

/** The PostgreSQL settings of a connection, by name. Null leaves the server's value. Never pass a client's input. */
export type Settings = Readonly<Record<string, string | null>>;

export interface ConnectionOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** Shown as `application_name` in `pg_stat_activity`. */
  name: string;
  /** Added to the settings of all connections, or replacing them. */
  settings?: Settings;
  /** How long connecting may take, in ms. @default 5_000 */
  connectTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;
/** Idle time before TCP probes a connection; one whose peer has vanished ends some 10 s later. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Settings that operators can change for a role or a database, and that would change what our statements mean or return,
 * or when they fail, or lose what was acknowledged. Only `default_transaction_read_only` is left to operators, who use it to
 * freeze a store, and how far commits wait for other servers.
 */
const PINNED: Settings = {
  search_path: 'public',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  xmloption: 'content',
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  row_security: 'on',
  session_replication_role: 'origin',
  synchronous_commit: 'on',
  exit_on_error: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  // The server notices within half a minute that the client's host is lost, and frees its locks. Its system's default is two hours.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
};

/**
 * Skips settings that older servers lack, and those that are already right: only superusers may set some of them. All values
 * of synchronous_commit but `off` are right.
 */
const APPLY = `select pg_catalog.set_config(name, value, false)
  from pg_catalog.json_each_text($1) as wanted (name, value)
  where pg_catalog.current_setting(name, true) operator(pg_catalog.<>) value
    and (name operator(pg_catalog.<>) 'synchronous_commit'
      or 'off' operator(pg_catalog.=) any (array[value, pg_catalog.current_setting(name, true)]))`;

/** Returns the query that gives a new connection the settings of all connections, with these. */
export const settingsQuery = (settings: Settings = {}, timeoutMs = CONNECT_TIMEOUT_MS) => ({
  text: APPLY,
  values: [JSON.stringify({ ...PINNED, ...settings })],
  query_timeout: timeoutMs,
});

/**
 * Returns the driver's options for all our connections. A pool applies the settings (`onConnect`) to each new connection
 * before its first use. They are not sent as startup parameters, which PgBouncer refuses or ignores.
 */
export function connectionConfig({ url, name, settings, connectTimeoutMs = CONNECT_TIMEOUT_MS }: ConnectionOptions) {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    async onConnect(client: ClientBase) {
      await client.query(settingsQuery(settings, connectTimeoutMs));
    },
  };
}

/** Opens one connection outside any pool. The caller closes it. Rejects when the server is unavailable. */
export async function connect(options: ConnectionOptions, driverOptions: ClientConfig = {}): Promise<Client> {
  const { onConnect, ...config } = connectionConfig(options);
  const client = new Client({ ...config, ...driverOptions });
  client.on('error', () => undefined); // the query rejects as well
  try {
    await client.connect();
    await onConnect(client);
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

/** Closes a connection, abruptly if the server does not respond. Never rejects. */
export async function disconnect(client: Client): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), CLOSE_TIMEOUT_MS);
  await client.end().catch(() => undefined);
  clearTimeout(late);
}

export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

/** Returns the URL with another database on the same server, for the same user. */
export function inDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.href;
}

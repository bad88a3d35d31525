import { connect, disconnect } from '@taskmesh/store/connection';
import { inDatabase, findDatabaseProblem } from '@taskmesh/store';
import { ConfigError } from '@taskmesh/service';
import type { Replacement } from '@taskmesh/pg-rows/replacement';
import type { Client } from 'pg';
import type { RestoreNames } from './names.ts';

/** A database can be created, renamed or dropped only from a connection to another one. */
export function maintenanceUrl(serverUrl: string): string {
  return inDatabase(serverUrl, 'postgres');
}

/** The URLs of servers that passed the check. */
const checkedServers = new Set<string>();

/**
 * Checks each server once. Rejects when the server does not respond.
 * @throws ConfigError when the server is too old, or behind a pooler that does not keep sessions
 */
export async function refuseUnsuitable(adminUrl: string): Promise<void> {
  const server = maintenanceUrl(adminUrl);
  if (checkedServers.has(server)) return;
  const refusal = await findDatabaseProblem(adminUrl, 'taskmesh-backup-probe');
  if (refusal) throw new ConfigError([`PostgreSQL at TASKS_ADMIN_URL or AUTH_ADMIN_URL ${refusal.reason}`]);
  checkedServers.add(server);
}

export interface AdminOptions {
  name?: string;
  /** For each statement; 0 if the caller itself detects a server that does not respond. @default 60_000 */
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
/** The server's own timeout expires first, so that the statement does not continue there. */
const RESPONSE_MARGIN_MS = 5_000;

export async function withAdmins<Result>(
  urls: readonly string[],
  work: (admins: Client[]) => Promise<Result>,
  options?: AdminOptions,
): Promise<Result> {
  const clients: Client[] = [];
  try {
    for (const url of urls) clients.push(await connectAdmin(url, options));
    return await work(clients);
  } finally {
    await Promise.all(clients.map(disconnect));
  }
}

export function withAdmin<Result>(
  url: string,
  work: (admin: Client) => Promise<Result>,
  options?: AdminOptions,
): Promise<Result> {
  return withAdmins([url], ([admin]) => work(admin as Client), options); // one client per URL
}

/** Connects to the live database and to the one that is to replace it. */
export function withReplacement<Result>(
  adminUrl: string,
  { fresh }: RestoreNames,
  work: (databases: Replacement) => Promise<Result>,
): Promise<Result> {
  const urls = [adminUrl, inDatabase(adminUrl, fresh)];
  return withAdmins(urls, ([from, to]) => work({ from: from as Client, to: to as Client })); // one client per URL
}

const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type = 'client backend'`;

/** Ends all clients' sessions of a database on that server. Only superusers may end a worker of the server itself. */
export async function endSessions(adminUrl: string, database: string): Promise<void> {
  await withAdmin(maintenanceUrl(adminUrl), (admin) => admin.query(END_SESSIONS, [database]));
}

/**
 * Connects as an administrator. Unqualified names in statements mean PostgreSQL's own functions and relations. Databases
 * that an operator made read-only until a restore can still be restored. Statements fail if the server stops responding.
 */
export async function connectAdmin(
  url: string,
  { name = 'taskmesh-backup', timeoutMs = TIMEOUT_MS }: AdminOptions = {},
): Promise<Client> {
  await refuseUnsuitable(url);
  const settings = {
    search_path: 'pg_catalog',
    default_transaction_read_only: 'off',
    statement_timeout: String(Math.ceil(timeoutMs)),
  };
  return connect({ url, name, settings }, timeoutMs === 0 ? {} : { query_timeout: timeoutMs + RESPONSE_MARGIN_MS });
}

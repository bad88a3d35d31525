import type { Refusal } from '@taskmesh/service';
import type { Client } from 'pg';
import { connect, disconnect } from './connection.ts';

/** What the migrations and statements are written for. docs/servers.md says it, too. */
const OLDEST_MAJOR = 15;

/** The same statement for every version: it runs before anything else. */
export const SERVER_VERSION = `select current_setting('server_version_num')::int as version`;

/** A server may freeze between the connection and a statement. */
const TIME_LIMIT = { query_timeout: 5_000 };

const NO_SESSIONS: Refusal = {
  reason:
    'is reached by a pooler that keeps no sessions, which locks and notifications need: set pool_mode = session there, or name the server itself',
  isLasting: true,
};

/** Why the server cannot be used, although it responds. Rejects when it does not. */
export async function whyUnfit(url: string, name: string): Promise<Refusal | undefined> {
  const first = await connect({ url, name }, TIME_LIMIT);
  try {
    const { rows } = await first.query<{ version: number }>(SERVER_VERSION);
    const tooOld = rows.map(({ version }) => whyTooOld(version)).find((refusal) => refusal !== undefined);
    if (tooOld) return tooOld;
    const second = await connect({ url, name }, TIME_LIMIT);
    try {
      return (await haveSessions(first, second)) ? undefined : NO_SESSIONS;
    } finally {
      await disconnect(second);
    }
  } finally {
    await disconnect(first);
  }
}

/** `version` is the server's `server_version_num`: 180004 for 18.4. */
export function whyTooOld(version: number): Refusal | undefined {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return undefined;
  return { reason: `is of version ${major}, and has to be of ${OLDEST_MAJOR} or newer`, isLasting: true };
}

/** A pooler that keeps transactions only gives the idle connection of the first client to the transaction of the second. */
async function haveSessions(first: Client, second: Client): Promise<boolean> {
  const before = await backendOf(first);
  await second.query('begin');
  return (await backendOf(second)) !== before && (await backendOf(first)) === before;
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
  return rows[0]?.pid;
}

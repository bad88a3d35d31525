import { unavailable } from '@taskmesh/errors';
import { Socket } from 'node:net';
import { Client, type QueryResultRow } from 'pg';
import { outcomeOf } from './failures.ts';
import type { Statement } from './statement.ts';

export interface SessionOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** What `pg_stat_activity` shows as the application. */
  name: string;
  /** Server settings for this session, e.g. `{ idle_session_timeout: '10s' }`. Names and values are ours, never a client's. */
  settings?: Record<string, string>;
  /** How long one statement may take before the session counts as lost. @default 5_000 */
  timeoutMs?: number;
}

/**
 * One connection of our own, outside the pool, for what lives as long as its session: advisory locks and notifications.
 * It never reconnects: when it is lost, so is everything that hung on it.
 */
export interface Session {
  /** One statement at a time, in the order of the calls. @throws AppError SERVICE_UNAVAILABLE when the session is lost */
  run<Row extends QueryResultRow>(statement: Statement, values?: unknown[]): Promise<Row[]>;
  /** Calls `heard` for every notification on the channel (a plain lower-case name). */
  listen(channel: string, heard: () => void): Promise<void>;
  /** Aborted when the connection is gone, or silent for longer than a statement may take. */
  readonly lost: AbortSignal;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Connects. @throws AppError SERVICE_UNAVAILABLE when the server is not there */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { url, name, settings = {}, timeoutMs = 5_000 } = options;
  const socket = new Socket();
  const gone = new AbortController();
  const client = new Client({
    connectionString: url,
    stream: () => socket,
    application_name: name,
    connectionTimeoutMillis: 2_000,
    query_timeout: timeoutMs,
    keepAlive: true,
    options: Object.entries({ timezone: 'UTC', ...settings })
      .map(([setting, value]) => `-c ${setting}=${value}`)
      .join(' '),
  });

  const lose = (reason: unknown) => {
    if (!gone.signal.aborted) gone.abort(reason);
    // A peer that is silent would not answer a farewell either.
    socket.destroy();
  };
  client.on('error', lose);
  client.on('end', () => lose(new Error('The session has ended.')));

  try {
    await client.connect();
  } catch (error) {
    lose(error);
    throw unavailable(undefined, error);
  }

  let earlier: Promise<unknown> = Promise.resolve();

  const run = async <Row extends QueryResultRow>(statement: Statement, values: unknown[] = []) => {
    const turn = earlier.then(() => {
      if (gone.signal.aborted) throw unavailable(undefined, gone.signal.reason);
      return client.query<Row>({ ...statement, values });
    });
    earlier = turn.catch(() => undefined);
    try {
      return (await turn).rows;
    } catch (error) {
      if (outcomeOf(error) === 'other') throw error;
      lose(error);
      throw unavailable(undefined, error);
    }
  };

  return {
    lost: gone.signal,
    run,
    async listen(channel, heard) {
      client.on('notification', (notification) => {
        if (notification.channel === channel) heard();
      });
      await run({ name: `listen-${channel}`, text: `listen ${client.escapeIdentifier(channel)}` });
    },
    async close() {
      if (gone.signal.aborted) return;
      gone.abort(new Error('The session was closed.'));
      const late = setTimeout(() => socket.destroy(), 1_000);
      await client.end().catch(() => undefined);
      clearTimeout(late);
    },
  };
}

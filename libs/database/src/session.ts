import { unavailable } from '@taskmesh/errors';
import { Socket } from 'node:net';
import { Client, type QueryResultRow } from 'pg';
import { outcomeOf } from './failures.ts';
import { LIFT_LIMITS } from './session-limits.ts';
import type { Statement } from './statement.ts';

export interface SessionOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** Shown as `application_name` in `pg_stat_activity`. */
  name: string;
  /** Server settings for this session, e.g. `{ idle_session_timeout: '10s' }`. Never pass a client's input. */
  settings?: Record<string, string>;
  /** Whether its transactions and pauses may last longer than the operator allows sessions in general. @default false */
  lasts?: boolean;
  /** How long a statement may take before the session counts as lost, in ms. @default 5_000 */
  timeoutMs?: number;
}

/**
 * One connection outside the pool, for what is bound to its session: advisory locks and notifications. It never
 * reconnects: once it is lost, so are its locks and subscriptions.
 */
export interface Session {
  /** One statement at a time, in call order. @throws AppError SERVICE_UNAVAILABLE when the session is lost */
  run<Row extends QueryResultRow>(statement: Statement, values?: unknown[]): Promise<Row[]>;
  /** Calls `heard` for each notification on the channel (a plain lower-case name). */
  listen(channel: string, heard: () => void): Promise<void>;
  /** Aborted when the connection is closed, or silent for longer than a statement may take. */
  readonly lost: AbortSignal;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Connects. @throws AppError SERVICE_UNAVAILABLE when the server is unavailable */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { url, name, settings = {}, lasts = false, timeoutMs = 5_000 } = options;
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
    // A silent peer would not answer a graceful close either.
    socket.destroy();
  };
  client.on('error', lose);
  client.on('end', () => lose(new Error('The session has ended.')));

  try {
    await client.connect();
    if (lasts) await client.query(LIFT_LIMITS);
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

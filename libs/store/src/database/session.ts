import { unavailable } from '@taskmesh/contracts';
import { Socket } from 'node:net';
import type { Client, QueryResultRow } from 'pg';
import { connect, type ConnectionOptions } from './connection.ts';
import { endsConnection, outcomeOf } from './failures.ts';
import type { Statement } from './prepared-query.ts';

const CONNECT_TIMEOUT_MS = 2_000;

export interface SessionOptions extends ConnectionOptions {
  /** How long a statement may take before the session counts as lost, in ms. @default 5_000 */
  timeoutMs?: number;
}

/**
 * One connection outside the pool, for session state: advisory locks and notifications. It never reconnects, because its
 * locks and subscriptions are lost with it.
 */
export interface Session {
  /** Runs one statement at a time, in call order. @throws AppError SERVICE_UNAVAILABLE when the session is lost */
  run<Row extends QueryResultRow>(statement: Statement, values?: unknown[]): Promise<Row[]>;
  /** Calls `onNotification` for each notification on the channel (a plain lower-case name). */
  listen(channel: string, onNotification: () => void): Promise<void>;
  /** Aborted when the connection is closed, or silent for longer than a statement may take. */
  readonly lost: AbortSignal;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Also accepts plain SQL, which it does not prepare. */
export interface SqlSession extends Session {
  run<Row extends QueryResultRow>(statement: Statement | string, values?: unknown[]): Promise<Row[]>;
}

/** Opens a connection. @throws AppError SERVICE_UNAVAILABLE when the server is unavailable */
export async function openSession({ timeoutMs = 5_000, ...connection }: SessionOptions): Promise<SqlSession> {
  const socket = new Socket();
  const closed = new AbortController();
  const lose = (reason: unknown) => {
    if (!closed.signal.aborted) closed.abort(reason);
    // A silent peer would not respond to a graceful close either.
    socket.destroy();
  };

  let client: Client;
  try {
    client = await connect(
      { connectTimeoutMs: CONNECT_TIMEOUT_MS, ...connection },
      { stream: () => socket, query_timeout: timeoutMs },
    );
  } catch (error) {
    throw unavailable(undefined, error);
  }
  client.on('error', lose);
  client.on('end', () => lose(new Error('The session has ended.')));

  let earlier: Promise<unknown> = Promise.resolve();

  const run = async <Row extends QueryResultRow>(statement: Statement | string, values: unknown[] = []) => {
    const turn = earlier.then(() => {
      if (closed.signal.aborted) throw unavailable(undefined, closed.signal.reason);
      return client.query<Row>({ ...(typeof statement === 'string' ? { text: statement } : statement), values });
    });
    earlier = turn.catch(() => undefined);
    try {
      return (await turn).rows;
    } catch (error) {
      if (outcomeOf(error) === 'other') throw error;
      if (endsConnection(error)) lose(error);
      throw unavailable(undefined, error);
    }
  };

  return {
    lost: closed.signal,
    run,
    async listen(channel, onNotification) {
      client.on('notification', (notification) => {
        if (notification.channel === channel) onNotification();
      });
      await run(`listen ${client.escapeIdentifier(channel)}`);
    },
    async close() {
      if (closed.signal.aborted) return;
      closed.abort(new Error('The session was closed.'));
      const late = setTimeout(() => socket.destroy(), 1_000);
      await client.end().catch(() => undefined);
      clearTimeout(late);
    },
  };
}

const BEGIN: Statement = { name: 'begin', text: 'begin' };
const COMMIT: Statement = { name: 'commit', text: 'commit' };

/** Runs all of `work` or none of it: closing the session without a commit rolls back. */
export async function inTransaction<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.run(BEGIN);
  const result = await work();
  await session.run(COMMIT);
  return result;
}

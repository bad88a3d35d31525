import { activeSpan, type SpanDescription } from '@taskmesh/service';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { SQL_STATE } from './sql-state.ts';
import type { ObserveStatement } from './observe.ts';

/** If these statements fail, MikroORM never releases the connection. */
const UNGUARDED = new Set(['begin', 'rollback']);
const CHECK_EVERY_MS = 500;

/** The number of running statements on a connection, and the time of the last start or response. */
interface Waiting {
  statements: number;
  sinceMs: number;
}

interface WatchOptions {
  silenceMs: number;
  /** Describes a statement that does not come from `Database.run`. */
  spanOf: (query: unknown) => SpanDescription;
  observe: ObserveStatement;
}

/**
 * Keeps a pool's connections usable. Call it before the first connection.
 *
 * - MikroORM's query builder never releases a connection whose `begin` or `rollback` fails, for example when the server
 *   ends the session: ten such failures, and the pool stays empty. Such a connection is discarded here.
 * - A connection to a server that has become read-only is closed: a new one may reach the new primary.
 * - A connection silent for `silenceMs` (the server is frozen, the network is down) is closed, and its statements fail
 *   with "Query read timeout". The driver's `query_timeout` does the same with a timer for each statement, but cleared
 *   timers made V8 retain the statements' results until the next major collection, and throughput fell by a quarter.
 * - Details of errors, which quote refused rows, are removed: MikroORM would add them to the message, and so to logs.
 */
export function watchConnections(pool: Pool, { silenceMs, ...reports }: WatchOptions): void {
  const waiting = new Map<PoolClient, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  const closeSilent = () => {
    const latestMs = performance.now() - silenceMs;
    for (const [client, { statements, sinceMs }] of waiting)
      if (statements > 0 && sinceMs < latestMs) client.connection.stream.destroy(new Error('Query read timeout'));
  };

  pool.on('connect', (client) => {
    const state: Waiting = { statements: 0, sinceMs: 0 };
    waiting.set(client, state);
    timer ??= setInterval(closeSilent, CHECK_EVERY_MS).unref();
    watch(client, state, reports);
  });
  pool.on('remove', (client) => {
    waiting.delete(client);
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  });
}

function watch(client: PoolClient, state: Waiting, { spanOf, observe }: Omit<WatchOptions, 'silenceMs'>): void {
  const query: (...args: never[]) => unknown = client.query;
  /** Call the returned function when the statement has ended. */
  const begin = (statement: unknown) => {
    const begunMs = performance.now();
    if (state.statements++ === 0) state.sinceMs = begunMs;
    return (failure?: unknown) => {
      state.statements--;
      state.sinceMs = performance.now();
      observe(statement, (state.sinceMs - begunMs) / 1_000, failure);
    };
  };

  const watchQuery = (...args: unknown[]): unknown => {
    const last = args.at(-1);
    if (typeof last === 'function') {
      const finished = begin(args[0]);
      const callback = (...results: unknown[]) => {
        finished(results[0] ?? undefined);
        Reflect.apply(last, undefined, results);
      };
      return Reflect.apply(query, client, args.with(-1, callback) as never[]);
    }
    const result = Reflect.apply(query, client, args as never[]);
    if (!(result instanceof Promise)) return result; // a stream or cursor handles its own failures
    const finished = begin(args[0]);
    const span = activeSpan()?.child(spanOf(args[0]));
    const endSpan = () => {
      finished();
      span?.end();
    };
    result.then(endSpan, (error: Error) => {
      if (error instanceof DatabaseError) error.detail = undefined;
      finished(error);
      span?.end(error);
      if ('code' in error && error.code === SQL_STATE.readOnlyTransaction) client.connection.stream.destroy(error);
      if (typeof args[0] === 'string' && UNGUARDED.has(args[0])) client.release(true);
    });
    return result;
  };
  Object.assign(client, { query: watchQuery });
}

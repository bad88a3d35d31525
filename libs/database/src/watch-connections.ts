import { activeSpan, type SpanDescription } from '@taskmesh/telemetry';
import type { Pool, PoolClient } from 'pg';
import type { ObserveStatement } from './statement-metrics.ts';

/** The server follows another one since a failover, so whoever keeps the connection can write nothing. */
const READ_ONLY = '25006';
/** The only statements after whose failure nobody gives the connection back. */
const UNGUARDED = new Set(['begin', 'rollback']);
const LOOK_EVERY_MS = 500;

/** Statements under way on a connection; since when none of them was answered. */
interface Waiting {
  statements: number;
  sinceMs: number;
}

interface WatchOptions {
  silenceMs: number;
  /** Of a statement that is none of `Database.run`. */
  spanOf: (query: unknown) => SpanDescription;
  observe: ObserveStatement;
}

/**
 * Keeps a pool's connections usable. To be called before its first connection.
 *
 * - The query builder below MikroORM keeps a connection for good when its `begin` or `rollback` fails, as they do when the
 *   server ends a session: ten such moments, and the pool is empty until the process ends. Here such a connection is thrown
 *   away, and makes room for a new one.
 * - A connection to a server that takes no writes any more is ended: a new one may lead to the server that does.
 * - A connection that has not answered for `silenceMs` (the server is frozen, the way to it lost) is ended, and its
 *   statements fail with "Query read timeout". The driver's `query_timeout` does the same with a timer for each statement,
 *   but cleared timers made V8 keep all that statements had read until the next major collection: a quarter fewer of them
 *   came back in a second.
 */
export function watchConnections(pool: Pool, { silenceMs, ...reports }: WatchOptions): void {
  const waiting = new Map<PoolClient, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  const look = () => {
    const latestMs = performance.now() - silenceMs;
    for (const [client, { statements, sinceMs }] of waiting)
      if (statements > 0 && sinceMs < latestMs) client.connection.stream.destroy(new Error('Query read timeout'));
  };

  pool.on('connect', (client) => {
    const state: Waiting = { statements: 0, sinceMs: 0 };
    waiting.set(client, state);
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
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
  /** Call what it returns when it is answered. */
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
      const answered = begin(args[0]);
      const callback = (...results: unknown[]) => {
        answered(results[0] ?? undefined);
        Reflect.apply(last, undefined, results);
      };
      return Reflect.apply(query, client, args.with(-1, callback) as never[]);
    }
    const result = Reflect.apply(query, client, args as never[]);
    if (!(result instanceof Promise)) return result; // a stream or cursor looks after itself
    const answered = begin(args[0]);
    const span = activeSpan()?.child(spanOf(args[0]));
    const endSpan = () => {
      answered();
      span?.end();
    };
    result.then(endSpan, (error: Error) => {
      answered(error);
      span?.end(error);
      if ('code' in error && error.code === READ_ONLY) client.connection.stream.destroy(error);
      if (typeof args[0] === 'string' && UNGUARDED.has(args[0])) client.release(true);
    });
    return result;
  };
  Object.assign(client, { query: watchQuery });
}

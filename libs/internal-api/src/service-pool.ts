import { unavailable } from '@taskmesh/errors';
import type { LookupFunction } from 'node:net';
import { openConnection, type Connection, type Exchange } from './http/connection.ts';
import { writeRequest } from './http/request-text.ts';
import type { Answer } from './http/response-reader.ts';
import { beginWaiting, gaveUp } from './waiting.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service keeps idle connections, so that the client closes first. */
const KEEP_ALIVE_MS = 60_000;
const CONNECTIONS = 256;
/** More requests than this are refused: the service cannot keep up. */
const MAX_QUEUED = 1_024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** How often idle connections that are no longer needed are closed. */
const SWEEP_EVERY_MS = 5_000;

export interface Post {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Covers all of it: waiting for a connection, the answer, and a retry. */
  timeoutMs: number;
  /** Aborts the request, unless it is not idempotent and was already sent. */
  signal?: AbortSignal | undefined;
  /** Whether the request may be sent again when the connection breaks before an answer. */
  idempotent: boolean;
}

/** Keep-alive connections to one origin. No redirects, no proxies. */
export interface ServicePool {
  /** A request given up while it waits is never sent. @throws AppError SERVICE_UNAVAILABLE without an answer in time */
  post(request: Post): Promise<Answer>;
  destroy(): Promise<void>;
}

interface PoolOptions {
  /** @default 256 */
  connections?: number;
  /** How to find the host's addresses. @default as the system does */
  lookup?: LookupFunction;
}

export function createServicePool(
  origin: string,
  { connections = CONNECTIONS, lookup }: PoolOptions = {},
): ServicePool {
  const url = new URL(origin);
  const open = new Set<Connection>();
  /** The one used last is used next, so that unneeded ones stay idle and can be closed. */
  const idle: Connection[] = [];
  const queue = new Set<() => void>();
  let free = connections;
  let isDestroyed = false;

  const sweep = setInterval(() => {
    for (const connection of idle.filter((each) => !each.isUsable()))
      connection.destroy(new Error('Nobody needed the connection.'));
  }, SWEEP_EVERY_MS).unref();

  const connect = () => {
    const connection = openConnection({
      url,
      lookup,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      idleMs: KEEP_ALIVE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onIdle: (each) => void idle.push(each),
      onClosed(each) {
        open.delete(each);
        const place = idle.indexOf(each);
        if (place !== -1) idle.splice(place, 1);
      },
    });
    open.add(connection);
    return connection;
  };

  const takeConnection = (): Connection => {
    for (let last = idle.pop(); last; last = idle.pop()) {
      if (last.isUsable()) return last;
      last.destroy(new Error('The connection is too old.'));
    }
    return connect();
  };

  const enter = (start: () => void) => {
    if (free === 0) return void queue.add(start);
    free--;
    start();
  };
  const leave = () => {
    const [next] = queue;
    if (!next) return void free++;
    queue.delete(next);
    next();
  };

  const post = (request: Post) =>
    new Promise<Answer>((resolve, reject) => {
      const { timeoutMs, signal, idempotent } = request;
      let mayRepeat = idempotent;
      let connection: Connection | undefined;

      if (signal?.aborted) return reject(gaveUp('The caller has gone.'));
      if (queue.size >= MAX_QUEUED) return reject(gaveUp('Too many requests wait for the service.'));
      const exchange: Exchange = {
        ...writeRequest(url, request),
        onSent() {
          if (!idempotent) waiting.leaveCaller();
        },
        onAnswer(answer) {
          leave();
          waiting.end();
          resolve(answer);
        },
        onFailure(error, isReset) {
          if (isReset && mayRepeat && !isDestroyed) {
            mayRepeat = false;
            return start();
          }
          leave();
          waiting.end();
          reject(unavailable(undefined, error));
        },
      };
      const start = () => {
        if (isDestroyed) return exchange.onFailure(new Error('The pool is closed.'), false);
        connection = takeConnection();
        connection.send(exchange);
      };
      const onGivenUp = (error: Error) => {
        reject(error);
        mayRepeat = false;
        if (!queue.delete(start)) connection?.destroy(error);
      };

      // It limits the time of the whole request.
      const waiting = beginWaiting({ timeoutMs, signal, onGivenUp });
      enter(start);
    });

  return {
    post,
    destroy: async () => {
      isDestroyed = true;
      clearInterval(sweep);
      for (const connection of open) connection.destroy(new Error('The pool is closed.'));
    },
  };
}

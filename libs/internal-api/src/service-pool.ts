import { unavailable } from '@taskmesh/errors';
import { Pool, type Dispatcher } from 'undici';
import { beginWaiting, gaveUp } from './waiting.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service keeps idle connections, so that the client closes first. */
const KEEP_ALIVE_MS = 60_000;
const CONNECTIONS = 256;
/** More requests than this are refused: the service cannot keep up. */
const MAX_QUEUED = 1_024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** A reset of an idle connection: the service never saw the request, or died with it. */
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

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

export interface Answer {
  status: number;
  text: string;
}

/** Keep-alive connections to one origin. No redirects, no proxies. */
export interface ServicePool {
  /** A request given up while it waits is never sent. @throws AppError SERVICE_UNAVAILABLE without an answer in time */
  post(request: Post): Promise<Answer>;
  /** For streams, which have other time limits. */
  dispatcher: Pool;
  destroy(): Promise<void>;
}

interface PoolOptions {
  /** @default 256 */
  connections?: number;
  /** How to open a connection. @default over TCP or TLS */
  connect?: Pool.Options['connect'];
}

export function createServicePool(origin: string, options: PoolOptions = {}): ServicePool {
  const { connections = CONNECTIONS, connect = { timeout: CONNECT_TIMEOUT_MS } } = options;
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect,
  });
  // undici has a queue as well, but a request cannot be removed from that one.
  const queue = new Set<() => void>();
  let free = connections;

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
      const { path, headers, body, timeoutMs, signal, idempotent } = request;
      const chunks: Buffer[] = [];
      let status = 0;
      let bytes = 0;
      let mayRepeat = idempotent;
      let isOver = false;
      let control: Dispatcher.DispatchController | undefined;

      if (signal?.aborted) return reject(gaveUp('The caller has gone.'));
      if (queue.size >= MAX_QUEUED) return reject(gaveUp('Too many requests wait for the service.'));
      const onGivenUp = (error: Error) => {
        isOver = true;
        reject(error);
        if (!queue.delete(start)) control?.abort(error);
      };
      const start = () =>
        // `beginWaiting` limits the time of the whole request.
        void pool.dispatch({ method: 'POST', path, headers, body, headersTimeout: 0, bodyTimeout: 0 }, handler);
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(controller) {
          if (isOver) return controller.abort(new Error('Given up before it was sent.'));
          control = controller;
          if (!idempotent) waiting.leaveCaller();
        },
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
          if (bytes <= MAX_RESPONSE_BYTES) return void chunks.push(chunk);
          waiting.end();
          onGivenUp(gaveUp('The answer is too large.'));
        },
        onResponseEnd() {
          leave();
          waiting.end();
          const [first] = chunks;
          resolve({ status, text: chunks.length === 1 && first ? first.toString() : Buffer.concat(chunks).toString() });
        },
        onResponseError(_controller, error) {
          if (!isOver && mayRepeat && status === 0 && isReset(error)) {
            mayRepeat = false;
            return start();
          }
          leave();
          waiting.end();
          reject(unavailable(undefined, error));
        },
      };

      const waiting = beginWaiting({ timeoutMs, signal, onGivenUp });
      enter(start);
    });

  return { post, dispatcher: pool, destroy: () => pool.destroy() };
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RESET_CODES.has(String(error.code));
}

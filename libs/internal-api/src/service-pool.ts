import { unavailable } from '@taskmesh/contracts';
import type { LookupFunction } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { openPool } from './open-pool.ts';
import { beginWaiting, gaveUp } from './waiting.ts';

const CONNECTIONS = 256;
/** More requests than this are refused: the service cannot keep up. */
const MAX_QUEUED = 1_024;
/** The connection is gone: the service never saw the request, or died with it. */
const RESETS = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

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
  /** When the service made it, by its own clock. */
  date?: string | undefined;
}

/** Keep-alive connections to one origin. No redirects, no proxies. */
export interface ServicePool {
  /** A request given up while it waits is never sent. @throws AppError SERVICE_UNAVAILABLE without an answer in time */
  post(request: Post): Promise<Answer>;
  destroy(): Promise<void>;
}

interface ServicePoolOptions {
  /** @default 256 */
  connections?: number;
  /** How to find the host's addresses. @default as the system does */
  lookup?: LookupFunction;
  /** Bytes of a response's body; a larger one is no answer. @default 64 MiB */
  maxResponseSize?: number;
}

export function createServicePool(
  origin: string,
  { connections = CONNECTIONS, ...options }: ServicePoolOptions = {},
): ServicePool {
  let pool: Promise<Pool> | undefined;
  let opened: Pool | undefined;
  let isDestroyed = false;
  /** How many requests the pool works on. The others wait here: one that was given up there would cost a connection. */
  let running = 0;
  const queue = new Set<() => void>();
  const startNext = () => {
    const [start] = queue;
    if (!start) return void running--;
    queue.delete(start);
    start();
  };

  const open = async () => (opened = await (pool ??= openPool(origin, { connections, ...options })));

  const post = (request: Post) =>
    new Promise<Answer>((resolve, reject) => {
      const { timeoutMs, signal, idempotent, path, headers, body } = request;
      if (isDestroyed) return reject(gaveUp('The pool is closed.'));
      if (signal?.aborted) return reject(gaveUp('The caller has gone.'));
      if (queue.size >= MAX_QUEUED) return reject(gaveUp('Too many requests wait for the service.'));

      let mayRepeat = idempotent;
      let isOver = false;
      let controller: Dispatcher.DispatchController | undefined;
      const settle = (outcome: () => void) => {
        if (isOver) return;
        isOver = true;
        waiting.end();
        queue.delete(send);
        outcome();
      };
      // It limits the time of the whole request.
      const waiting = beginWaiting({
        timeoutMs,
        signal,
        onGivenUp: (error) => {
          settle(() => reject(error));
          controller?.abort(error);
        },
      });

      const chunks: Buffer[] = [];
      const answer: Answer = { status: 0, text: '' };
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(begun) {
          controller = begun;
          if (isOver) return begun.abort(gaveUp('It was given up before it was sent.'));
          if (!idempotent) waiting.leaveCaller();
        },
        onResponseStart(_controller, status, { date }) {
          answer.status = status;
          if (typeof date === 'string') answer.date = date;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          answer.text = (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString();
          settle(() => resolve(answer));
          startNext();
        },
        onResponseError(_controller, error) {
          const isReset = answer.status === 0 && 'code' in error && RESETS.has(String(error.code));
          if (isReset && mayRepeat && !isOver && !isDestroyed) {
            mayRepeat = false;
            return void send();
          }
          fail(error);
        },
      };
      const fail = (error: unknown) => {
        settle(() => reject(unavailable(undefined, error)));
        startNext();
      };
      const send = (): void => {
        if (opened) return void opened.dispatch({ method: 'POST', path, headers, body }, handler);
        open().then(send, fail);
      };
      if (running >= connections) return void queue.add(send);
      running++;
      send();
    });

  return {
    post,
    async destroy() {
      isDestroyed = true;
      await (await pool)?.destroy();
    },
  };
}

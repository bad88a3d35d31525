import type { LookupFunction } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { unavailable } from '@taskmesh/contracts';
import { createBulkhead, createFairQueue, createNetworkBulkhead } from '@taskmesh/service';
import { startWaiting, abandoned } from './waiting.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service's own keep-alive timeout, so that the client closes idle connections first. */
const KEEP_ALIVE_MS = 60_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export interface PoolOptions {
  /** @default 256 for a service */
  connections: number;
  /** Resolves the host's name. @default the system's lookup */
  lookup?: LookupFunction | undefined;
  /** The maximum size of a response's body in bytes; -1 for no limit. @default 64 MiB */
  maxResponseSize?: number;
}

/**
 * Keep-alive connections of HTTP/1.1 to one origin, opened on demand, without redirects or proxies. Each call has its own timeout.
 * The client needs 5 MiB of memory, so it is loaded with the first request: a single process never needs it.
 */
function createLazyPool(url: string, { connections, lookup, maxResponseSize = MAX_RESPONSE_BYTES }: PoolOptions) {
  let opening: Promise<Pool> | undefined;
  let opened: Pool | undefined;
  let isDestroyed = false;
  const load = async () => {
    const { Pool } = await import('undici');
    return new Pool(new URL(url).origin, {
      connections,
      maxResponseSize,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS, ...(lookup && { lookup }) },
    });
  };
  return {
    /** Undefined before the first request. */
    get opened() {
      return opened;
    },
    get isDestroyed() {
      return isDestroyed;
    },
    /** Rejects once the pool is destroyed. */
    async open(): Promise<Pool> {
      if (isDestroyed) throw new Error('The pool is destroyed.');
      return (opened = await (opening ??= load()));
    },
    /** Aborts current requests. */
    async destroy() {
      isDestroyed = true;
      await (await opening)?.destroy();
    },
  };
}

const CONNECTIONS = 256;
/** Further requests are refused, because the service cannot keep up. */
const MAX_QUEUED = 1_024;
const LARGE_RESPONSE_BYTES = 256 * 1024;
/** Requests of a greater weight have shares of their own. */
const MAX_SMALL_WEIGHT = 2;
/** A piece of a response takes this much in addition to its bytes, even if it is a single one. */
const PIECE_BYTES = 256;
/** The connection was lost: the service never received the request, or died while handling it. */
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** How often to try another connection when one is refused: an address may stand for several processes, some of which start or end. */
const MAX_REFUSALS = 3;

export interface PostRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Covers everything: the wait for a connection, the response, and a retry. */
  timeoutMs: number;
  /** From `networkOf`: each may use half of the connections, and while all are busy, they take turns. @default others share a turn */
  network?: string | undefined;
  /** May use an eighth of the connections. */
  account?: string | undefined;
  /** How many connections it counts as, because its response takes long to make and to read. @default 1 */
  weight?: number;
  /** Aborts the request, unless it is not idempotent and was already sent. */
  signal?: AbortSignal | undefined;
  /** Whether the request may be sent again if the connection breaks before the response. */
  idempotent: boolean;
  /**
   * Called before a response of more than 256 KiB is read; without a Content-Length, as it arrives, for what is new.
   * The request fails with what this throws.
   */
  onLarge?: ((bytes: number) => void) | undefined;
}

export interface PostResponse {
  status: number;
  text: string;
  /** When the service sent the response, by its own clock. */
  date?: string | undefined;
}

/** Keep-alive connections to the origin of a URL. No redirects, no proxies. */
export type ServicePool = ReturnType<typeof createServicePool>;

/** Limits the total memory of responses that are being received, for one pool or several. */
export function createResponseBudget(maxBytes: number) {
  const receivedBytes = new Map<() => void, number>();
  let totalBytes = 0;
  return {
    /** Counts bytes of the response that `giveUp` aborts. Over the limit, aborts the response that holds the most. */
    add(giveUp: () => void, bytes: number) {
      receivedBytes.set(giveUp, (receivedBytes.get(giveUp) ?? 0) + bytes);
      totalBytes += bytes;
      if (totalBytes <= maxBytes) return;
      const [largest] = [...receivedBytes].reduce((one, other) => (other[1] > one[1] ? other : one));
      largest();
    },
    /** Call this when the response has ended or is given up. */
    end(giveUp: () => void) {
      totalBytes -= receivedBytes.get(giveUp) ?? 0;
      receivedBytes.delete(giveUp);
    },
  };
}

interface ServicePoolOptions extends Partial<PoolOptions> {
  /** Limits the bodies of all responses being received, together. @default no limit */
  budget?: ReturnType<typeof createResponseBudget>;
}

export function createServicePool(
  url: string,
  { connections = CONNECTIONS, budget, ...options }: ServicePoolOptions = {},
) {
  const pool = createLazyPool(url, { connections, ...options });
  const queue = { maxWaiting: MAX_QUEUED, refusal: () => new Error('Too many requests wait for the service.') };
  /** Includes abandoned requests until their turn comes. */
  const fairQueue = createFairQueue({ concurrency: connections, ...queue });
  const createShares = () => ({
    accounts: createBulkhead({ concurrency: Math.ceil(connections / 8), ...queue }),
    networks: createNetworkBulkhead({
      ...{ concurrency: Math.ceil(connections / 2), ofSite: Math.ceil((connections * 3) / 4), ...queue },
    }),
  });
  /** All leave connections to others, also while the service does not respond, and large requests to small ones. */
  const [small, large] = [createShares(), createShares()];

  /** A request that is abandoned while it waits is never sent. @throws AppError SERVICE_UNAVAILABLE without a response in time */
  const post = (request: PostRequest) =>
    new Promise<PostResponse>((resolve, reject) => {
      const { timeoutMs, network, account, signal, weight = 1, idempotent, onLarge, path, headers, body } = request;
      if (pool.isDestroyed) return reject(abandoned('The pool is closed.'));
      if (signal?.aborted) return reject(abandoned('The caller has disconnected.'));

      let mayRepeat = idempotent;
      let refusals = 0;
      let isOver = false;
      let controller: Dispatcher.DispatchController | undefined;
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const settle = (outcome: () => void) => {
        if (isOver) return;
        isOver = true;
        waiting.end();
        budget?.end(exceed);
        outcome();
      };
      const giveUp = (error: Error) => {
        settle(() => reject(error));
        controller?.abort(error);
      };
      const exceed = () => giveUp(abandoned('The responses of services are too large together.'));
      // Limits the time of the whole request.
      const waiting = startWaiting({ timeoutMs, signal, onGivenUp: giveUp });

      const chunks: Buffer[] = [];
      let receivedBytes = 0;
      let reportedBytes = 0;
      const reportLarge = (bytes: number) => {
        if (isOver || !(bytes > Math.max(reportedBytes, LARGE_RESPONSE_BYTES))) return; // not a number without a length
        try {
          onLarge?.(bytes - reportedBytes);
        } catch (error) {
          giveUp(error as Error);
        }
        reportedBytes = bytes;
      };
      const response: PostResponse = { status: 0, text: '' };
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(begun) {
          // Thrown, because aborting the request would close the connection.
          if (isOver) throw abandoned('The request was abandoned before it was sent.');
          controller = begun;
          if (!idempotent) waiting.detachCaller();
        },
        onResponseStart(_controller, status, { date, 'content-length': length }) {
          response.status = status;
          if (typeof date === 'string') response.date = date;
          reportLarge(Number(length));
        },
        onResponseData(_controller, chunk) {
          if (isOver) return;
          chunks.push(chunk);
          budget?.add(exceed, chunk.length + PIECE_BYTES);
          reportLarge((receivedBytes += chunk.length));
        },
        onResponseEnd() {
          response.text = (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString();
          end();
          settle(() => resolve(response));
        },
        onResponseError(_controller, error) {
          const code = 'code' in error ? String(error.code) : '';
          const wasNotSent = code === 'ECONNREFUSED' && refusals++ < MAX_REFUSALS;
          const isReset = response.status === 0 && RESET_CODES.has(code);
          if ((wasNotSent || (isReset && mayRepeat)) && !isOver && !pool.isDestroyed) {
            if (isReset) mayRepeat = false;
            return void send();
          }
          fail(error);
        },
      };
      const fail = (error: unknown) => {
        end();
        settle(() => reject(unavailable(undefined, error)));
      };
      const send = (): void => {
        if (pool.opened) return void pool.opened.dispatch({ method: 'POST', path, headers, body }, handler);
        pool.open().then(send, fail);
      };
      const sendInTurn = async () => {
        if (isOver) return;
        send();
        await ended;
      };
      const limits = { signal, weight };
      const { accounts, networks } = weight > MAX_SMALL_WEIGHT ? large : small;
      const run = () => fairQueue.run(network ?? '', sendInTurn);
      const ofNetwork = () => (network ? networks.run(network, run, limits) : run());
      (account ? accounts.run(account, ofNetwork, limits) : ofNetwork()).catch(fail);
    });

  return {
    post,
    /** Aborts current requests. */
    destroy: pool.destroy,
  };
}

export type StreamPool = ReturnType<typeof createStreamPool>;

/** Connections for bodies of any length. The caller destroys the pool. */
export function createStreamPool(url: string, { connections }: { connections: number }) {
  const pool = createLazyPool(url, { connections, maxResponseSize: -1 });
  return {
    request: async (options: Dispatcher.RequestOptions) => (await pool.open()).request(options),
    /** Aborts current requests. */
    destroy: pool.destroy,
  };
}

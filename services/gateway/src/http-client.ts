import { unavailable } from '@taskmesh/errors';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import { Pool, type Dispatcher } from 'undici';

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than a service keeps an idle connection, so that the gateway lets go first. */
const KEEP_ALIVE_MS = 60_000;
const CONNECTIONS = 256;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Failures of a connection that was idle: the service never saw the request, or died with it. */
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Keep-alive connections to one origin. No redirects, no proxies. */
export function createPool(origin: string): Pool {
  return new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
}

export interface Post {
  path: string;
  headers: Record<string, string>;
  request: SubgraphRequest;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Services of ours answer with 200 whatever the result is; anything else is no answer. */
  okOnly: boolean;
  /** Whether it may be sent again when the connection broke before an answer. */
  idempotent: boolean;
}

/** @throws AppError SERVICE_UNAVAILABLE for whatever is not a GraphQL answer in time */
export async function postGraphQL(pool: Pool, post: Post): Promise<SubgraphResult> {
  const body = JSON.stringify(post.request);
  try {
    return await once(pool, post, body);
  } catch (cause) {
    if (!post.idempotent || !isReset(cause)) throw unavailable(undefined, cause);
  }
  try {
    return await once(pool, post, body);
  } catch (cause) {
    throw unavailable(undefined, cause);
  }
}

async function once(pool: Pool, post: Post, body: string): Promise<SubgraphResult> {
  const { status, text } = await dispatch(pool, post, body);
  const result: unknown = JSON.parse(text);
  if (isResult(result) && (status === 200 || !post.okOnly)) return result;
  throw new Error(`The service answered ${status} without a GraphQL result.`);
}

function isResult(value: unknown): value is SubgraphResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('data' in value || ('errors' in value && Array.isArray(value.errors)))
  );
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RESET_CODES.has(String(error.code)) && !('answered' in error);
}

/** One request with as few objects as it takes: no streams, one Buffer. */
function dispatch(pool: Pool, { path, headers, timeoutMs = TIMEOUT_MS, signal }: Post, body: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let bytes = 0;
    let control: Dispatcher.DispatchController | undefined;
    const timer = setTimeout(() => cut(new Error(`No answer within ${timeoutMs} ms.`)), timeoutMs);
    const cut = (reason: Error) => {
      settle();
      reject(reason);
      control?.abort(reason);
    };
    const onAbort = () => cut(new Error('The caller has gone.'));
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);

    pool.dispatch(
      // The timer is for all of it: the pool's own limits are those of ordinary requests.
      { method: 'POST', path, headers, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (controller) => {
          control = controller;
        },
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          bytes += chunk.length;
          if (bytes > MAX_RESPONSE_BYTES) return cut(new Error('The answer is too large.'));
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          settle();
          const [first] = chunks;
          resolve({ status, text: chunks.length === 1 && first ? first.toString() : Buffer.concat(chunks).toString() });
        },
        onResponseError: (_controller, error) => {
          settle();
          reject(status === 0 ? error : Object.assign(error, { answered: true }));
        },
      },
    );
  });
}

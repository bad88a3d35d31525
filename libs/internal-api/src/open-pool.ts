import type { LookupFunction } from 'node:net';
import type { Pool } from 'undici';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service keeps idle connections, so that the client closes first. */
const KEEP_ALIVE_MS = 60_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export interface PoolOptions {
  connections: number;
  /** @default as the system does */
  lookup?: LookupFunction | undefined;
  /** Bytes of a response's body; -1 for any number. @default 64 MiB */
  maxResponseSize?: number;
}

/**
 * Opens keep-alive connections of HTTP/1.1 to one origin when they are needed, without redirects or proxies. Each call has its own time
 * limit. The client takes 5 MiB, and is loaded with the first request: a single process has no need of it.
 */
export async function openPool(
  origin: string,
  { connections, lookup, maxResponseSize = MAX_RESPONSE_BYTES }: PoolOptions,
): Promise<Pool> {
  const { Pool } = await import('undici');
  return new Pool(origin, {
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
}

import { Pool } from 'undici';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service keeps idle connections, so that the client closes first. */
const KEEP_ALIVE_MS = 60_000;

/** Connections for bodies of any length, whose time limits are those of the calls. The caller closes it. */
export function createStreamPool(origin: string, { connections }: { connections: number }): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
}

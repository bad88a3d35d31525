import type { Dispatcher, Pool } from 'undici';

const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the service keeps idle connections, so that the client closes first. */
const KEEP_ALIVE_MS = 60_000;

export interface StreamPool {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  /** Breaks off what is under way. */
  destroy(): Promise<void>;
}

/**
 * Connections for bodies of any length, whose time limits are those of the calls. The caller destroys it. The client takes
 * 5 MiB of memory, and is loaded with the first request: most gateways never move an archive.
 */
export function createStreamPool(origin: string, { connections }: { connections: number }): StreamPool {
  let opened: Promise<Pool> | undefined;
  let isDestroyed = false;
  const open = async () => {
    const { Pool } = await import('undici');
    return new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    });
  };
  return {
    async request(options) {
      if (isDestroyed) throw new Error('The pool is destroyed.');
      return (await (opened ??= open())).request(options);
    },
    async destroy() {
      isDestroyed = true;
      await (await opened)?.destroy();
    },
  };
}

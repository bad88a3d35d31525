import type { Dispatcher, Pool } from 'undici';
import { openPool } from '../open-pool.ts';

export interface StreamPool {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  /** Breaks off what is under way. */
  destroy(): Promise<void>;
}

/** Connections for bodies of any length. The caller destroys it. */
export function createStreamPool(origin: string, { connections }: { connections: number }): StreamPool {
  let opened: Promise<Pool> | undefined;
  let isDestroyed = false;
  return {
    async request(options) {
      if (isDestroyed) throw new Error('The pool is destroyed.');
      opened ??= openPool(origin, { connections, maxResponseSize: -1 });
      return (await opened).request(options);
    },
    async destroy() {
      isDestroyed = true;
      await (await opened)?.destroy();
    },
  };
}

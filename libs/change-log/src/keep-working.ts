import { backoffMs, type Backoff, type Log } from '@taskmesh/service';

const RECONNECT: Backoff = { firstMs: 50, longestMs: 1_000 };

export interface KeepWorkingOptions<Lease> {
  /** Ends the work when it is aborted. */
  signal: AbortSignal;
  open: () => Promise<Lease>;
  /** Works until `signal` is aborted; throws when the lease is lost. Calls `onRound` after each round that worked. */
  work: (lease: Lease, onRound: () => void) => Promise<void>;
  close: (lease: Lease) => Promise<void>;
  pause: (ms: number) => Promise<unknown>;
  /** The name of the worker in the log, e.g. "the relay". */
  what: string;
  log: Log;
}

/** Works under a lease. When that is lost, opens another one, with growing pauses; only the first failure is logged. */
export async function keepWorking<Lease>(options: KeepWorkingOptions<Lease>): Promise<void> {
  const { signal, open, work, close, pause, what, log } = options;
  let tries = 0;
  while (!signal.aborted) {
    let lease: Lease | undefined;
    try {
      lease = await open();
      await work(lease, () => (tries = 0));
    } catch (error) {
      const happened = lease === undefined ? 'cannot connect' : 'has lost its connection';
      if (tries++ === 0) log.warn({ err: error }, `${what} ${happened}; connecting again until it works`);
    }
    if (lease !== undefined) await close(lease);
    await pause(backoffMs(tries, RECONNECT));
  }
}

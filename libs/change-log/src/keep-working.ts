import { backoffMs, type Backoff, type Log } from '@taskmesh/service';

const RECONNECT: Backoff = { firstMs: 50, longestMs: 1_000 };

export interface KeepWorkingOptions<Lease> {
  /** Ends the work when it is aborted. */
  signal: AbortSignal;
  open: () => Promise<Lease>;
  /** Works until `signal` is aborted or the lease is lost; `onRound` is to be called when a round has worked. */
  work: (lease: Lease, onRound: () => void) => Promise<void>;
  close: (lease: Lease) => Promise<void>;
  pause: (ms: number) => Promise<unknown>;
  /** What works, for the log: "the relay". */
  what: string;
  log: Log;
}

/** Works under one lease after the other: when one is lost, another is opened, with growing pauses, and told of once. */
export async function keepWorking<Lease>(options: KeepWorkingOptions<Lease>): Promise<void> {
  const { signal, open, work, close, pause, what, log } = options;
  let tries = 0;
  while (!signal.aborted) {
    let lease: Lease | undefined;
    try {
      lease = await open();
      await work(lease, () => (tries = 0));
    } catch (error) {
      if (tries++ === 0) log.warn({ err: error }, `${what} has lost its connection; connecting again until it works`);
    }
    if (lease !== undefined) await close(lease);
    await pause(backoffMs(tries, RECONNECT));
  }
}

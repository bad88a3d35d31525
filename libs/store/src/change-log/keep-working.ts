import { backoffMs, createFailureLog, type Backoff, type Log } from '@taskmesh/service';

/** A notification that is remembered: if nothing is waiting, it ends the next wait at once. */
export function createSignal() {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify(): void {
      isNotified = true;
      wake?.();
    },
    /** Drops a notification whose cause is about to be handled. */
    clear(): void {
      isNotified = false;
    },
    /** Resolves at the next notification, or after `timeoutMs`. Only one wait at a time. */
    async wait(timeoutMs: number): Promise<void> {
      if (isNotified) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
      wake = undefined;
    },
  };
}

const RECONNECT: Backoff = { firstMs: 50, maxMs: 1_000 };

export interface KeepWorkingOptions<Lease> {
  /** Ends the work when it is aborted. */
  signal: AbortSignal;
  open: () => Promise<Lease>;
  /** Works until `signal` is aborted; throws when the lease is lost. Calls `onRound` after each successful round. */
  work: (lease: Lease, onRound: () => void) => Promise<void>;
  close: (lease: Lease) => Promise<void>;
  pause: (ms: number) => Promise<unknown>;
  health: WorkerHealth;
  /** The name of the worker in the log, e.g. "the relay". */
  what: string;
  log: Log;
}

export type WorkerHealth = ReturnType<typeof createWorkerHealth>;

/** Tracks how long a worker has been failing, for operators. */
export function createWorkerHealth(monotonicMs = () => performance.now()) {
  let failingSinceMs: number | undefined;
  return {
    failed: () => void (failingSinceMs ??= monotonicMs()),
    worked: () => void (failingSinceMs = undefined),
    failingSeconds: () => (failingSinceMs === undefined ? undefined : (monotonicMs() - failingSinceMs) / 1_000),
  };
}

/** Works under a lease. When the lease is lost, opens another one, with growing pauses. Logs failures and recoveries. */
export async function keepWorking<Lease>(options: KeepWorkingOptions<Lease>): Promise<void> {
  const { signal, open, work, close, pause, health, what, log } = options;
  let tries = 0;
  let happened = '';
  const failures = createFailureLog((error) =>
    log.warn({ err: error }, `${what} ${happened}; connecting again until it works`),
  );
  const onRound = () => {
    if (tries === 0) return;
    tries = 0;
    health.worked();
    if (failures.succeeded()) log.info(`${what} works again`);
  };
  while (!signal.aborted) {
    let lease: Lease | undefined;
    try {
      lease = await open();
      await work(lease, onRound);
    } catch (error) {
      happened = lease === undefined ? 'cannot connect' : 'has failed, or has lost its connection';
      tries++;
      failures.failed(error);
      health.failed();
    }
    if (lease !== undefined) await close(lease);
    await pause(backoffMs(tries, RECONNECT));
  }
}

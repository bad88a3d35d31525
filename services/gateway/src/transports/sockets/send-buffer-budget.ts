import type { Log } from '@taskmesh/service';

const LOOK_EVERY_MS = 100;
/** Cutting stops at this share of the budget, so that the next change does not start it again. */
const RELIEVED_SHARE = 0.75;

/** A connection with bytes that may be waiting to be read. */
export interface QueuedReader {
  readonly waitingBytes: number;
  /** Ends it at once and drops what waits; the client reconnects and resumes. */
  cut(): void;
}

export interface SendBufferBudgetDeps {
  /** For all connections of this process together. */
  maxBytes: number;
  queuedBytes: () => number;
  readers: () => QueuedReader[];
  log: Log;
}

/**
 * Limits what waits for slow readers in total: each has a limit of its own, but there may be thousands of them. The
 * connection with the most waiting bytes is cut first.
 */
export function createSendBufferBudget({ maxBytes, queuedBytes, readers, log }: SendBufferBudgetDeps) {
  const look = () => {
    let queued = queuedBytes();
    if (queued <= maxBytes) return;
    const slowest = readers().toSorted((one, other) => other.waitingBytes - one.waitingBytes);
    let cut = 0;
    for (const reader of slowest) {
      if (queued <= maxBytes * RELIEVED_SHARE) break;
      queued -= reader.waitingBytes;
      reader.cut();
      cut++;
    }
    log.warn({ cut, maxBytes }, 'too much waited for slow readers: the slowest were cut off');
  };

  let timer: NodeJS.Timeout | undefined;
  return {
    start: () => void (timer = setInterval(look, LOOK_EVERY_MS)),
    stop: () => clearInterval(timer),
  };
}

import type { Log } from '@taskmesh/service';

const LOOK_EVERY_MS = 100;
/** Cutting goes on until this share of the budget is left, so that the next change does not begin it again. */
const RELIEVED_SHARE = 0.75;

/** A connection of which something may wait to be read. */
export interface QueuedReader {
  readonly waitingBytes: number;
  /** Ends it at once, with all that waits; its client comes back and resumes. */
  cut(): void;
}

export interface QueueBudgetDeps {
  /** For all connections of this process together. */
  maxBytes: number;
  /** What waits in all of them. */
  queuedBytes: () => number;
  readers: () => QueuedReader[];
  log: Log;
}

/**
 * Bounds what waits for slow readers of all accounts together: each has a bound of its own, but there may be thousands.
 * Whoever holds back the most goes first.
 */
export function createQueueBudget({ maxBytes, queuedBytes, readers, log }: QueueBudgetDeps) {
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

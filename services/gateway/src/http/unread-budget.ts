import type { Log, Service } from '@taskmesh/service';

const LOOK_EVERY_MS = 100;
/** Cutting stops at this share of the budget, so that the next change does not start it again. */
const RELIEVED_SHARE = 0.75;

/** A connection with bytes that may be waiting to be read. */
export interface Reader {
  readonly waitingBytes: number;
  readonly network: string;
  /** Undefined when it is not known: the connection then counts alone. */
  readonly account?: string | undefined;
  /** Ends it at once and drops what waits. */
  cut(): void;
}

export interface UnreadBudgetDeps {
  /** For all connections together. */
  maxBytes: number;
  waitingBytes: () => number;
  readers: () => Reader[];
  log: Log;
  /** What is waited for, in the log. */
  what: string;
}

/**
 * Limits what waits for slow readers in total: each has a limit of its own, but there may be thousands of them. Whose
 * network has the most waiting is cut first, of that the account with the most, of that the connection with the most: a
 * client that reads steadily is not cut for others.
 */
export function createUnreadBudget({ maxBytes, waitingBytes, readers, log, what }: UnreadBudgetDeps): Service {
  const look = () => {
    let waiting = waitingBytes();
    if (waiting <= maxBytes) return;
    let cut = 0;
    for (const reader of greediestFirst(readers())) {
      if (waiting <= maxBytes * RELIEVED_SHARE) break;
      waiting -= reader.waitingBytes;
      reader.cut();
      cut++;
    }
    log.warn({ cut, maxBytes }, `too much waited for slow readers of ${what}: those with the most were cut off`);
  };

  let timer: NodeJS.Timeout | undefined;
  return {
    async start() {
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

function greediestFirst(readers: Reader[]): Reader[] {
  const ofNetwork = totalsBy(readers, ({ network }) => network);
  const ofAccount = totalsBy(readers, (reader) => reader.account ?? reader);
  return readers.toSorted(
    (one, other) =>
      ofNetwork(other) - ofNetwork(one) || ofAccount(other) - ofAccount(one) || other.waitingBytes - one.waitingBytes,
  );
}

function totalsBy(readers: Reader[], keyOf: (reader: Reader) => unknown): (reader: Reader) => number {
  const totals = new Map<unknown, number>();
  for (const reader of readers) totals.set(keyOf(reader), (totals.get(keyOf(reader)) ?? 0) + reader.waitingBytes);
  return (reader) => totals.get(keyOf(reader)) ?? 0;
}

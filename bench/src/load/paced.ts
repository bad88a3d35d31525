import { setTimeout as sleep } from 'node:timers/promises';

export interface Pace {
  perSecond: number;
  seconds: number;
  /** Sends at moments that know nothing of each other, as those of many people do. @default evenly */
  random?: () => number;
}

/**
 * Sends so many requests, however long the answers take. The latencies, in milliseconds, count from the moment when a
 * request was due: one that had to wait for its turn is not spared that.
 * @throws what `send` throws
 */
export async function pace(send: () => Promise<unknown>, { perSecond, seconds, random }: Pace): Promise<number[]> {
  const momentOf = (index: number) => (random ? random() * seconds : index / perSecond) * 1_000;
  const moments = Array.from({ length: Math.round(perSecond * seconds) }, (_, index) => momentOf(index));
  const start = performance.now();
  const answers: Promise<number>[] = [];
  const failed = new AbortController();
  for (const moment of moments.toSorted((one, other) => one - other)) {
    const dueMs = start + moment;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    failed.signal.throwIfAborted();
    const answered = send().then(() => performance.now() - dueMs);
    answered.catch((error: unknown) => failed.abort(error));
    answers.push(answered);
  }
  return Promise.all(answers);
}

/** One after the other, and again from the first. @throws when there is none */
export function inTurns<Item>(items: readonly Item[]): () => Item {
  let turn = 0;
  return () => {
    const item = items[turn++ % items.length];
    if (item === undefined) throw new Error('There is nobody whose turn it could be.');
    return item;
  };
}

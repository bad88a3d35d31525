import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Sends `perSecond` requests evenly over `seconds`, however long the answers take. The latencies, in milliseconds, count
 * from the moment when a request was due: one that had to wait for its turn is not spared that.
 * @throws what `send` throws
 */
export async function pace(
  send: () => Promise<unknown>,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const start = performance.now();
  const answers: Promise<number>[] = [];
  const failed = new AbortController();
  for (let index = 0; index < perSecond * seconds; index++) {
    const dueMs = start + (index * 1_000) / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    failed.signal.throwIfAborted();
    const answered = send().then(() => performance.now() - dueMs);
    answered.catch((error: unknown) => failed.abort(error));
    answers.push(answered);
  }
  return Promise.all(answers);
}

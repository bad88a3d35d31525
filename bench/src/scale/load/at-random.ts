import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Sends exactly so many requests at moments that know nothing of each other, as those of many people do. Resolves with
 * their number when all are answered.
 * @throws what `send` throws
 */
export async function atRandom(
  send: () => Promise<unknown>,
  { perSecond, seconds, random = Math.random }: { perSecond: number; seconds: number; random?: () => number },
): Promise<number> {
  const count = Math.round(perSecond * seconds);
  const moments = Array.from({ length: count }, () => random() * seconds * 1_000).toSorted((one, other) => one - other);
  const start = performance.now();
  const failed = new AbortController();
  const answers: Promise<unknown>[] = [];
  for (const moment of moments) {
    const waitMs = start + moment - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    failed.signal.throwIfAborted();
    const answered = send();
    answered.catch((error: unknown) => failed.abort(error));
    answers.push(answered);
  }
  await Promise.all(answers);
  return count;
}

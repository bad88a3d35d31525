import { unavailable } from '@taskmesh/contracts';
import { createFairQueue } from '@taskmesh/service';
import { setTimeout as rest } from 'node:timers/promises';

/** So much in a row delays others by no more than they notice. */
const FREE_MS = 5;

export interface Turns {
  /**
   * Runs work that keeps the processor for milliseconds, for a network of `networkOf`.
   * @throws AppError SERVICE_UNAVAILABLE when its turn does not come, or when `signal` is aborted before that
   */
  run<Result>(network: string, work: () => Result, signal?: AbortSignal): Promise<Result>;
}

/**
 * Does one such work at a time, of networks in turn, and rests after it for as long: however much arrives at once, half of the
 * time is left for everything else.
 */
export function createTurns(): Turns {
  const queue = createFairQueue({
    concurrency: 1,
    maxWaiting: 1_000,
    maxWaitMs: 5_000,
    refusal: () => unavailable('Too much that takes long arrives right now; try again.'),
  });
  let spentMs = 0;

  return {
    run: (network, work, signal) =>
      new Promise((resolve, reject) => {
        const turn = async () => {
          const begunMs = performance.now();
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
          // What goes on from it at once, in microtasks, is a part of it.
          await new Promise<void>((resolveNext) => process.nextTick(resolveNext));
          spentMs += performance.now() - begunMs;
          const restMs = spentMs > FREE_MS ? spentMs : 0;
          spentMs -= restMs;
          if (restMs > 0) await rest(restMs);
        };
        queue.run(network, turn, signal).catch(reject);
      }),
  };
}

import { unavailable } from '@taskmesh/contracts';
import { createFairQueue } from '@taskmesh/service';
import { setTimeout as rest } from 'node:timers/promises';

/** Work of this length does not delay others noticeably. */
const FREE_MS = 5;
/** Longer than any work takes. More only passes while the process is frozen, and must not block others for as long again. */
const MAX_PAUSE_MS = 500;

export type BlockingWork = ReturnType<typeof createBlockingWork>;

/**
 * Runs one piece of such work at a time, with networks in turn, and then pauses for as long as it took. However much arrives
 * at once, half of the time is left for everything else.
 */
export function createBlockingWork() {
  const queue = createFairQueue({
    concurrency: 1,
    maxWaiting: 1_000,
    maxWaitMs: 5_000,
    refusal: () => unavailable('Too much that takes long arrives right now; try again.'),
  });
  let spentMs = 0;

  return {
    /**
     * Runs work that blocks the event loop for milliseconds. `network` comes from `networkOf`.
     * @throws AppError SERVICE_UNAVAILABLE if its turn does not come in time, or `signal` is aborted before that
     */
    run: <Result>(network: string, work: () => Result, signal?: AbortSignal) =>
      new Promise<Result>((resolve, reject) => {
        const runAndPause = async () => {
          const begunMs = performance.now();
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
          // Microtasks that follow from the work count as part of it.
          await new Promise<void>((resolveNext) => process.nextTick(resolveNext));
          spentMs += performance.now() - begunMs;
          const pauseMs = spentMs > FREE_MS ? spentMs : 0;
          spentMs -= pauseMs;
          if (pauseMs > 0) await rest(Math.min(pauseMs, MAX_PAUSE_MS));
        };
        queue.run(network, runAndPause, { signal }).catch(reject);
      }),
  };
}

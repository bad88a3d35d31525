import { unavailable } from '@taskmesh/contracts';
import { createFairQueue, type FairQueue, networkOf } from '@taskmesh/service';
import type { OperationRun, RequestCall } from './operation.ts';

const HUGE_BYTES = 2 * 1024 * 1024;
/** What is made of an answer until its operation is over takes about nine times its size. */
const AT_ONCE = { large: 8, huge: 1 };
/** Below the time of an operation. */
const MAX_WAIT_MS = 8_000;

export interface LargeAnswers {
  /** Runs an operation whose large answers wait for their account's turn. */
  run<Result>(
    call: RequestCall,
    work: (takeLarge: NonNullable<OperationRun['takeLarge']>) => Promise<Result>,
  ): Promise<Result>;
}

/** Bounds the large answers of services that are worked on at once. Their sizes are not known before: clients choose the texts. */
export function createLargeAnswers(): LargeAnswers {
  const queueOf = (concurrency: number) =>
    createFairQueue({
      concurrency,
      maxWaiting: 256,
      maxWaitMs: MAX_WAIT_MS,
      refusal: () => unavailable('Too many large results are being made right now; try again.'),
    });
  const [large, huge] = [queueOf(AT_ONCE.large), queueOf(AT_ONCE.huge)];

  return {
    async run({ identity, ip }, work) {
      const caller = identity.role === 'user' ? identity.userId : networkOf(ip);
      const taken = new Map<FairQueue, Promise<void>>();
      const ends: (() => void)[] = [];
      let isOver = false;
      const take = (queue: FairQueue) =>
        new Promise<void>((resolve, reject) => {
          const turn = async () => {
            resolve();
            if (!isOver) await new Promise<void>((end) => ends.push(end));
          };
          queue.run(caller, turn).catch(reject);
        });
      const takeLarge = (bytes: number) => {
        const queue = bytes > HUGE_BYTES ? huge : large;
        const turn = taken.get(queue) ?? take(queue);
        taken.set(queue, turn);
        return turn;
      };
      try {
        return await work(takeLarge);
      } finally {
        isOver = true;
        for (const end of ends) end();
      }
    },
  };
}

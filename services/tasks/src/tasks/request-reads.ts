import type { Identity } from '@taskmesh/identity';
import { requireUser, type SubgraphContext } from '@taskmesh/internal-api';
import { unavailable } from '@taskmesh/contracts';
import { createBulkhead, createFairQueue, networkOf } from '@taskmesh/service';

/** In tasks or copies of tasks. Beyond this size, a request must wait for its turn; it may exceed it by one page of this size. */
export const LARGE_PAGE = 100;
/** Maximum number of concurrent large responses, each for a different owner. Networks take turns, however many owners one has. */
const MAX_CONCURRENT_LARGE = 2;
const MAX_WAITING = 256;
const MAX_WAIT_MS = 5_000;
const QUEUE = {
  maxWaitMs: MAX_WAIT_MS,
  refusal: () => unavailable('Other large pages are still being sent; try again, or request fewer tasks.'),
};

/** Runs the reads of one request. */
export interface RequestReads {
  /**
   * Runs `read` for at most `max` tasks of the response; `countOf` returns their actual number. `isSerialized`: the read need not wait
   * for other statements of its owner.
   * @throws AppError SERVICE_UNAVAILABLE when the request needs a turn and does not get one
   */
  run<Result>(
    max: number,
    read: (isSerialized: boolean) => Promise<Result>,
    countOf?: (result: Result) => number,
  ): Promise<Result>;
}

interface Request {
  /** The number of tasks that the request has read. */
  tasks: number;
  last: Promise<unknown>;
  slot?: Promise<void>;
  isSerialized: boolean;
}

/**
 * A request runs one statement at a time. A request for many tasks waits for a turn, which lasts until its response is sent, so that
 * only a few such responses are in memory, however many are requested. During its turn it does not wait for other statements of its
 * owner, who could otherwise prolong the turn.
 */
export function createRequestReads(): (context: SubgraphContext) => RequestReads {
  const owners = createBulkhead({ concurrency: 1, ...QUEUE });
  const largeReads = createFairQueue({ concurrency: MAX_CONCURRENT_LARGE, maxWaiting: MAX_WAITING, ...QUEUE });
  const requests = new WeakMap<SubgraphContext, Request>();

  const waitForSlot = (context: SubgraphContext) =>
    new Promise<void>((resolve, reject) => {
      const hold = () => {
        resolve();
        return context.ended;
      };
      const untilMs = performance.now() + MAX_WAIT_MS; // for both queues together
      const user = requireUser(context.identity);
      const waitForTurn = () => largeReads.run(networkOfUser(user), hold, { maxWaitMs: untilMs - performance.now() });
      owners.run(user.userId, waitForTurn).catch(reject);
    });

  return (context) => ({
    run(max, read, countOf = () => 0) {
      const request = requests.get(context) ?? { tasks: 0, last: Promise.resolve(), isSerialized: false };
      requests.set(context, request);
      const result = request.last.then(async () => {
        refuseCancelled(context);
        if (max > 0 && (request.tasks > LARGE_PAGE || max > LARGE_PAGE)) {
          await (request.slot ??= waitForSlot(context));
          refuseCancelled(context);
          request.isSerialized = true;
        }
        const found = await read(request.isSerialized);
        request.tasks += countOf(found);
        return found;
      });
      request.last = result.catch(() => undefined);
      return result;
    },
  });
}

/** The user's network; gateways of the previous release do not send the address. */
export const networkOfUser = ({ userId, ip = userId }: Extract<Identity, { role: 'user' }>): string => networkOf(ip);

/** Stops the remaining reads of a request whose client has disconnected, or that failed in another field. */
function refuseCancelled({ isCancelled }: SubgraphContext): void {
  if (isCancelled?.()) throw unavailable('No one is waiting for the result.');
}

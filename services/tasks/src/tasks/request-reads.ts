import { requireUser, type SubgraphContext } from '@taskmesh/internal-api';
import { unavailable } from '@taskmesh/contracts';
import { createBulkhead } from '@taskmesh/service';

/** Of tasks. A request may read so many before it takes a turn, and one such page beyond them. */
export const LARGE_PAGE = 100;
/** How many responses with more tasks are made at once, each for another owner, so that no owner can take all turns. */
const LARGE_AT_ONCE = 2;
const MAX_WAITING = 256;
const MAX_WAIT_MS = 5_000;
const QUEUE = {
  maxWaitMs: MAX_WAIT_MS,
  refusal: () => unavailable('Other large pages are still being sent; try again, or ask for fewer tasks.'),
};

/** What one request reads for its lists. */
export interface RequestReads {
  /**
   * Runs `read`, which gets at most `limit` tasks; `countOf` says how many. `isInTurn`: it need not wait for other statements of its owner.
   * @throws AppError SERVICE_UNAVAILABLE when the request has to take a turn and there is none
   */
  run<Result>(
    limit: number,
    read: (isInTurn: boolean) => Promise<Result>,
    countOf?: (result: Result) => number,
  ): Promise<Result>;
}

interface Request {
  /** Tasks that it has read. */
  tasks: number;
  last: Promise<unknown>;
  turn?: Promise<void>;
  isInTurn: boolean;
}

/**
 * A request reads one statement at a time. When its tasks become many, it takes a turn until its response is sent, so that few such
 * responses are in memory, however many are requested. Within its turn it waits for nothing else: the turn would last as long as its
 * owner lets other statements wait.
 */
export function createRequestReads(): (context: SubgraphContext) => RequestReads {
  const owners = createBulkhead({ concurrency: 1, ...QUEUE });
  const turns = createBulkhead({ concurrency: LARGE_AT_ONCE, maxWaiting: MAX_WAITING, ...QUEUE });
  const requests = new WeakMap<SubgraphContext, Request>();

  const turnOf = (context: SubgraphContext) =>
    new Promise<void>((resolve, reject) => {
      const hold = () => {
        resolve();
        return context.ended;
      };
      const late = { signal: AbortSignal.timeout(MAX_WAIT_MS) }; // of both together
      owners.run(requireUser(context.identity).userId, () => turns.run('', hold, late), late).catch(reject);
    });

  return (context) => ({
    run(limit, read, countOf = () => 0) {
      const request = requests.get(context) ?? { tasks: 0, last: Promise.resolve(), isInTurn: false };
      requests.set(context, request);
      const result = request.last.then(async () => {
        refuseCancelled(context);
        if (limit > 0 && (request.tasks > LARGE_PAGE || limit > LARGE_PAGE + 1)) {
          await (request.turn ??= turnOf(context));
          refuseCancelled(context);
          request.isInTurn = true;
        }
        const found = await read(request.isInTurn);
        request.tasks += countOf(found);
        return found;
      });
      request.last = result.catch(() => undefined);
      return result;
    },
  });
}

/** What is left of a request whose client has gone, or that failed in another field, must not go on reading. */
function refuseCancelled({ isCancelled }: SubgraphContext): void {
  if (isCancelled?.()) throw unavailable('No one waits for the result any more.');
}
